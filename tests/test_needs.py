"""Nothing is skipped but through one door, which is shut in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.needs import lacking, program

TESTS = Path(__file__).parent
OWN_WAY = {
    "needs.py",
    "test_needs.py",
    "shipper/collectors/test_nvidia_card.py",  # a card is what CI's machine cannot have
    "shipper/test_portable.py",  # of another system than Linux
}


def test_ci_fails_where_a_laptop_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The same missing program, said with the way to get it.
    """
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install never"):
        program("no-such-program", package="never")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no-such-program is missing"):
        program("no-such-program", package="never")
    with pytest.raises(pytest.skip.Exception, match="why"):
        lacking("why")


def test_no_other_door() -> None:
    """
    A marker or a call of pytest's own would be skipped in CI too.
    """
    found = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("skipif(", "pytest.skip("))
    }
    assert found <= OWN_WAY
