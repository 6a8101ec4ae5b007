"""Groups as they were on the day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from enrich.chain import Chain
from enrich.identity import Identities, Identity, IdentitySettings, read_identities, system_group
from enrich.reapply import Place
from enrich.reidentify import Reidentify
from enrich.rules import Rules
from enrich.step import Context
from enrich.steps.identity import build
from leadline.errors import SettingsError
from leadline.formats import Document
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.enrich.test_reapply import sample

Tables = Callable[..., Identities]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    def read(users: str, metagroups: str = "", *, directory: bool = False) -> Identities:
        one, two = tmp_path / "users.csv", tmp_path / "metagroups.csv"
        one.write_text(f"user,group,from,until,cluster\n{users}\n")
        two.write_text(f"member,metagroup,from,until\n{metagroups}\n")
        return read_identities(IdentitySettings((one,), (two,), directory))

    return read


def test_change_of_group_takes_no_history_along(tables: Tables) -> None:
    """
    Until the day before in the old group, from the day on in the new one: a document goes by its
    own day, whenever it comes.
    """
    known = tables("alice,chem,,2026-03-01\nalice,bio,2026-03-01")
    chain = Chain([build(Context(rules=Rules([]), identities=known))])

    days = ("2020-01-01", "2026-02-28", "2026-03-01", "2030-01-01")
    found = [chain.one({**sample(1, 1, "a"), "local.day": day}) for day in days]
    assert ["chem", "chem", "bio", "bio"] == [document["user.group"] for document in found]


def test_groups_of_groups_and_of_users_are_dated_too(tables: Tables) -> None:
    """
    A faculty of groups, a school of faculties, a project of single users; circles end.
    """
    known = tables(
        "alice,chem\nbob,bio",
        "chem,science\nbio,science,2026-01-01\nscience,university\nuniversity,science\n"
        "user:bob,course,,2026-02-01",
    )

    assert ("science", "university") == known.of("alice", "2025-01-01", "fox").metagroups
    assert ("course",) == known.of("bob", "2025-12-31", "fox").metagroups
    assert ("course", "science", "university") == known.of("bob", "2026-01-31", "fox").metagroups
    assert ("science", "university") == known.of("bob", "2026-02-01", "fox").metagroups


def test_one_cluster_may_differ(tables: Tables) -> None:
    """
    What is said of one cluster wins over what is said of all.
    """
    known = tables("alice,chem\nalice,guests,,,betzy")

    assert ["chem", "guests"] == [
        known.of("alice", "2026-01-01", c).group for c in ("fox", "betzy")
    ]


def test_record_and_directory_fill_what_tables_leave_open(tables: Tables) -> None:
    """
    Tables, then what the scheduler recorded, then the directory; a stranger is unknown, not lost.
    """
    known = tables("alice,chem", directory=True)

    assert "chem" == known.of("alice", "2026-01-01", "fox", "other").group
    assert "recorded" == known.of("carol", "2026-01-01", "fox", "recorded").group
    assert system_group("root") == known.of("root", "2026-01-01", "fox").group
    assert Identity("unknown") == known.of("_user_4711", "2026-01-01", "fox")
    assert Identity(None) == Identities().of("_user_4711", "2026-01-01", "fox")


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("alice,chem,1 March", "line 2: from '1 March' is no day; write it as 2026-03-01"),
        ("alice,chem,2026-03-01,2026-02-01", "line 2: until 2026-02-01 is not after"),
        (
            "alice,chem\nalice,bio",
            "line 3: alice is in chem and bio at the same time; end the first",
        ),
        ("alice", "line 2: the group is empty; fill it in"),
    ],
)
def test_mistakes_name_the_line(tables: Tables, row: str, error: str) -> None:
    """
    Nobody is silently in two groups, or in none by a slip of the pen.
    """
    with pytest.raises(SettingsError, match=error):
        tables(row)


def test_step_keeps_whom_nobody_knows(tables: Tables) -> None:
    """
    The hours of a stranger stay, under `unknown`; a document without a user is left as it is.
    """
    chain = Chain(
        [build(Context(rules=Rules([]), identities=tables("alice,chem", "chem,science")))]
    )
    known, stranger = sample(1, 1, "a"), {**sample(1, 2, "a"), "user.name": "mallory"}
    nobody = {name: value for name, value in sample(1, 3, "a").items() if name != "user.name"}

    assert {**known, "user.group": "chem", "user.metagroup": ["science"]} == chain.one({**known})
    assert {**stranger, "user.group": "unknown"} == chain.one({**stranger})
    assert nobody == chain.one({**nobody})


def test_history_is_restated_when_asked(tables: Tables, tmp_path: Path) -> None:
    """
    A correction of the tables moves what is stored: only whom it concerns, once.
    """
    store = MemoryStore()
    early: Document = {**sample(1, 1, "a"), "local.day": "2026-03-01", "user.group": "old"}
    late: Document = {**sample(2, 1, "a"), "local.day": "2026-03-02"}
    other: Document = {**late, "process.pid": 7, "user.name": "bob", "user.group": "bio"}
    store.write([early, late, {**other, "process.entity_id": "7-1"}], "create")
    context = Context(rules=Rules([]), identities=tables("alice,chem,2026-03-02\nbob,bio"))
    days = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)

    def run(name: str) -> list[dict[tuple[str, str, str], int]]:
        place = Place(tmp_path / name, "v")
        return [dict(moves) for moves in Reidentify(store, context).days(*days, place)]

    assert [{}, {("alice", "none", "chem"): 1}, {}] == run("one")
    assert [{}, {}, {}] == run("two")
    (documents,) = store.scan("process", EVERYTHING)
    assert ["old", "chem", "bio"] == [d["user.group"] for d in documents]
