"""
Killed at any statement, the alerts go on where they were: nothing twice, nothing forgotten.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.alerts.conftest import Site, hot

TURNS = (
    (hot("c1", "c2"), 0),
    (hot("c1", "c2"), 20),
    (hot("c2", "c3") + hot("c1", on=False), 40),
    (hot("c1", "c2", "c3", on=False), 60),
)
EXPECTED = ["c1 is hot", "c1 is hot", "c2 is hot", "c2 is hot", "c3 is hot", "c3 is hot"]


def play(site: Site, first: int = 0) -> None:
    for number, (seen, minute) in enumerate(TURNS):
        if number >= first:
            (site.folder / "turn").write_text(str(number))
            site.turn(seen, minute)


def die_at(folder: Path, last: int) -> bool:
    """
    Whether a process of its own was killed before its LAST statement, or came to its end.
    """
    child = os.fork()
    if child == 0:
        done = 0

        def step(statement: str) -> None:
            nonlocal done
            done += 1
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            play(Site(folder, step=step))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_anywhere_says_all_of_it_once(tmp_path: Path) -> None:
    """
    Before every single statement of the ledger, the moment after a message was handed over too.
    """
    points = 0
    while True:
        folder = tmp_path / str(points)
        folder.mkdir()
        if not die_at(folder, points + 1):
            break
        points += 1
        site = Site(folder)
        play(site, int((folder / "turn").read_text()))
        lines = [text for line in site.lines() for text in line["text"].splitlines()]
        told = sorted(text.rpartition("hot: ")[2] for text in lines if "  hot: " in text)
        assert EXPECTED == told, f"killed before statement {points}: {told}"
        ids = [line["id"] for line in site.lines()]
        assert len(set(ids)) == len(ids)
    assert points > 60
