"""
Every store: people who are forgotten, by deletion or by a pseudonym.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.people import TEXTS, People, naming
from tests.store.cases import everything
from tests.store.documents import job, process

ALIAS = "uabcdefghij234567"
GONE = People({"alice": None})
HIDDEN = People({"alice": ALIAS}, {"1001": "u2222222222222222"})
HERS: Document = {"user.name": "alice", "user.id": "1001"}


def usage(number: int, **fields: object) -> Document:
    """
    An hour of use: who used it is part of its key.
    """
    return {
        "dataset": "usage",
        "@timestamp": f"2026-11-21T{number:02d}:00:00.000Z",
        "cluster": "fox",
        "host.name": "c1-1",
        "command.shape": "/home/alice/run",
        "local.day": "2026-11-21",
        "core_seconds": 60.0,
        "record.version": 7,
        **fields,
    }


def fill(store: Store) -> None:
    outcome = store.write(
        [
            process(
                1,
                **HERS,
                **{
                    "user.group": "alice",
                    "user.metagroup": ["alice", "staff"],
                    "process.command_line": "cp /home/alice/alice.dat alicea /tmp/bob-alice",
                    "program.name": "alice",
                    "labels": {"alice": ["alice", 2], "n": 1.5},
                },
            ),
            process(2, **{"user.name": "bob", "process.command_line": "ls /home/alice"}),
            process(3, **{"user.name": "alicea"}),
            process(4),
            job(1, 3, **HERS, **{"job.work_dir": "/home/alice", "job.cancelled_by": "root"}),
            job(2, 3, **{"user.name": "bob", "job.cancelled_by": "alice"}),
            usage(1, **HERS),
            usage(1, **{"user.name": "bob", "user.id": "1002"}),
        ],
        "replace",
    )
    assert not outcome.rejected


def forget(store: Store, people: People, *, dry_run: bool = False) -> dict[str, int]:
    return {
        name: store.forget(name, people, dry_run=dry_run) for name in ("process", "job", "usage")
    }


def by(store: Store, dataset: str) -> list[object]:
    return [d.get("user.name") for d in everything(store, dataset, order=("sample.uptime",))]


def test_erased_she_is_in_no_document(store: Store) -> None:
    """
    Hers are deleted, her name is taken out of others'; everybody else's stay as they were.
    """
    fill(store)

    assert {"process": 1, "job": 2, "usage": 1} == forget(store, GONE)

    assert ["bob", "alicea", None] == by(store, "process")
    (left,) = everything(store, "job")
    assert "job.cancelled_by" not in left
    assert ["bob"] == by(store, "usage")


def test_under_a_pseudonym_her_figures_stay(store: Store) -> None:
    """
    Her documents keep all but her name: sums by person are as before, keys that held her too.
    """
    fill(store)

    forget(store, HIDDEN)

    (hers,) = [d for d in everything(store) if d.get("user.name") == ALIAS]
    assert hers == process(
        1,
        **{
            "user.name": ALIAS,
            "user.id": "u2222222222222222",
            "user.group": ALIAS,
            "user.metagroup": ["staff", ALIAS],
            "process.command_line": f"cp /home/{ALIAS}/{ALIAS}.dat alicea /tmp/bob-{ALIAS}",
            "program.name": "alice",
            "labels": {ALIAS: [ALIAS, 2], "n": 1.5},
        },
    )
    found = sorted(everything(store, "job"), key=lambda d: str(d["job.run"]))
    assert [ALIAS, "bob"] == [d["user.name"] for d in found]
    assert ["root", ALIAS] == [d["job.cancelled_by"] for d in found]
    hours = {d["user.name"]: d for d in everything(store, "usage")}
    assert {ALIAS, "bob"} == set(hours)
    assert f"/home/{ALIAS}/run" == hours[ALIAS]["command.shape"]
    assert "/home/alice/run" == hours["bob"]["command.shape"]


@pytest.mark.parametrize("people", [GONE, HIDDEN], ids=["erase", "pseudonym"])
def test_dry_run_counts_and_again_is_nothing(store: Store, people: People) -> None:
    """
    A dry run counts what the real one changes and changes nothing; a second run finds nothing.
    """
    fill(store)
    before = everything(store)

    told = forget(store, people, dry_run=True)
    assert everything(store) == before
    assert told == forget(store, people)

    after = everything(store), everything(store, "usage"), everything(store, "job")
    assert {"process": 0, "job": 0, "usage": 0} == forget(store, people)
    assert after == (everything(store), everything(store, "usage"), everything(store, "job"))


def test_only_what_is_old_enough(store: Store) -> None:
    """
    Names are kept for a while: only documents before the moment lose them.
    """
    fill(store)
    store.write([usage(9, **HERS)], "replace")

    moment = datetime(2026, 11, 21, 5, tzinfo=UTC)
    assert 1 == store.forget("usage", HIDDEN, before=moment, dry_run=False)

    assert {ALIAS, "bob", "alice"} == set(by(store, "usage"))


def test_a_corrected_record_still_takes_its_place(store: Store) -> None:
    """
    What a pseudonym replaced keeps its version: a greater one wins, a smaller one does not.
    """
    fill(store)
    forget(store, HIDDEN)

    assert 0 == store.write([job(1, 2, **{"job.state": "OLD"})], "replace").accepted
    assert 1 == store.write([job(1, 4, **{"job.state": "NEW"})], "replace").accepted


def test_store_with_none_of_hers_is_left_alone(store: Store) -> None:
    """
    Nothing is written for somebody nobody knows.
    """
    fill(store)

    counts = forget(store, People({"nobody": None}))
    assert {"process": 0, "job": 0, "usage": 0} == counts
    assert 0 == store.forget("gpu", GONE, dry_run=False)


def test_lake_and_memory_agree_on_every_text(memory: MemoryStore, lake: LakeStore) -> None:
    """
    SQL and the definition come to the same documents, whatever the name is made of.
    """
    for name in ("alice", "_user_77", "a.b-c", "x+y", "d$", "øyvind"):
        documents = [
            process(n, **{"user.name": name, "process.command_line": text})
            for n, text in enumerate(
                [name, f"/{name}/", f"{name}{name}", f"{name} {name}", f"é{name}ß", f"{name}_1"]
            )
        ]
        for store in (memory, lake):
            store.write(documents, "replace")
            store.forget("process", People({name: ALIAS}), dry_run=False)
        assert everything(memory) == everything(lake)


def test_every_name_there_is_has_its_rule() -> None:
    """
    A new field that holds a person has to be thought of here.
    """
    assert ("user.name", "job.cancelled_by") == naming("job")
    assert ("user.name", "state.reason_user") == naming("job_state")
    assert ("state.reason_user",) == naming("node_state")
    assert "job.comment" in TEXTS
