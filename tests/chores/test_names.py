"""
Names that are old enough become pseudonyms: whole months, every dataset, roll-ups included.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from leadline.chores.names import hide_names
from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.pseudonyms import Pseudonyms, is_pseudonym
from leadline.settings.common import RetentionSettings
from leadline.settings.typed import Duration
from leadline.store.memory import MemoryStore
from tests.query.conftest import answer, stored

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
YEAR = 365 * 86400.0
(NAMES,) = [chore for chore in CHORES if chore.name == "names"]


def alias(name: str) -> str:
    return "u" + (name.encode().hex().translate(str.maketrans("0189", "ghij")) * 9)[:16]


def usage(month: str, name: str) -> Document:
    return {
        "dataset": "usage",
        "@timestamp": f"{month}-10T11:00:00.000Z",
        "cluster": "fox",
        "host.name": "c1-1",
        "user.name": name,
        "user.id": str(len(name) + 1000),
        "command.shape": "x",
        "local.day": f"{month}-10",
        "core_seconds": 3600.0,
        "record.version": 1,
    }


def job(month: str, number: int, **fields: object) -> Document:
    time = f"{month}-10T11:00:00.000Z"
    run = {"job.run": f"fox/{number}@{time}", "record.version": 1}
    return {"dataset": "job", "@timestamp": time, "cluster": "fox", **run, **fields}


def fleet() -> MemoryStore:
    return stored(
        [
            *(usage(month, name) for month in ("2025-10", "2025-11") for name in ("alice", "bob")),
            usage("2025-10", "root"),
            job("2025-10", 1, **{"user.name": "alice"}),
            job("2025-10", 2, **{"user.name": "root", "job.cancelled_by": "bob"}),
            job("2026-10", 3, **{"user.name": "alice"}),
        ]
    )


def names(store: MemoryStore, dataset: str, field: str = "user.name") -> set[object]:
    return {d.get(field) for d in store.tables[dataset].values()}


def test_whole_months_that_are_old_enough_lose_their_names() -> None:
    """
    October 2025 goes, November, of which a part is younger than a year, stays; root is nobody.
    """
    store = fleet()
    changed = hide_names(store, YEAR, alias, NOW)
    assert {"usage": 2, "job": 2} == changed
    assert {alias("alice"), alias("bob"), "root", "alice", "bob"} == names(store, "usage")
    assert {alias("alice"), "root", "alice"} == names(store, "job")
    assert {None, alias("bob")} == names(store, "job", "job.cancelled_by")
    assert alias("1005") in names(store, "usage", "user.id")
    assert {} == hide_names(store, YEAR, alias, NOW)


def test_figures_by_person_are_as_before() -> None:
    """
    A pseudonym is one person: hours by user are the same, under other names.
    """
    store = fleet()
    before = answer(store, "core_hours_used by user during 2025-10")
    hide_names(store, YEAR, alias, NOW)
    after = answer(store, "core_hours_used by user during 2025-10")
    assert before.total == after.total
    assert sorted(str(r["core_hours_used"]) for r in before.rows) == sorted(
        str(r["core_hours_used"]) for r in after.rows
    )


def test_the_chore_follows_the_settings(tmp_path: Path) -> None:
    """
    0 keeps names for ever; without a key it says so; two years is what is shipped.
    """
    store = fleet()

    def turn(age: float | None, key: bool = True) -> str:
        retention = RetentionSettings() if age is None else RetentionSettings(names=Duration(age))
        work = Work(
            store, NOW, lambda _: ZoneInfo("UTC"), None, retention, alias=alias if key else None
        )
        return do(NAMES, work, forced=True) or ""

    assert "kept for ever" in turn(0)
    assert "privacy.key" in turn(None, key=False)
    assert "none is older" in turn(None)
    assert "hidden in 2 job, 2 usage" in turn(YEAR)


def test_a_pseudonym_is_known_by_its_form(tmp_path: Path) -> None:
    """
    The shipper's and the chores' are one.
    """
    key = tmp_path / "key"
    key.write_text("k" * 32)
    assert is_pseudonym(Pseudonyms(key).of("alice"))
    assert is_pseudonym(alias("alice"))
    assert not is_pseudonym("ubuntu")
