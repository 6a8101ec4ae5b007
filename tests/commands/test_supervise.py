"""A group of processes: what falls is started again, what is stopped is gone."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from leadline.commands import supervise
from leadline.commands.supervise import Group, Part, last_words


def until(condition: object, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def test_fallen_part_is_started_again_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A process that ends is started again after a growing wait; people are told its last words.
    """
    monkeypatch.setattr(supervise, "RESTART_WAIT", 0.1)
    said: list[str] = []
    part = Part("web", ["no-such-command"], tmp_path / "web.log", wait=0.1)
    group = Group([part], said.append)
    group.start()
    watcher = threading.Thread(target=group.watch)
    watcher.start()
    try:
        assert until(lambda: part.falls >= 2)
    finally:
        group.stop()
        watcher.join(10)
    assert "web ended with code 2" in said[0]
    assert "No such command" in said[0]
    assert part.wait > 0.1


def test_last_words_of_an_empty_log(tmp_path: Path) -> None:
    """
    A process that said nothing is not quoted.
    """
    (tmp_path / "x.log").touch()
    assert "(none)" == last_words(tmp_path / "x.log")
    assert "cannot read" in last_words(tmp_path / "gone.log")
