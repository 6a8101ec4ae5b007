"""
The lake answers what the naive store answers, whatever is stored and whatever is asked.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING, Scope

NAMES = st.sampled_from(["alice", "bob", "ål ice", "o'brien", '"q"', "x\\y", "%", "42", "☃"])
TAGS = st.sets(st.sampled_from(["gpu", "mpi", "licensed", "a b"]), min_size=1).map(sorted)
SECONDS = st.integers(0, 5000).map(lambda n: n / 4)
LOCAL = [b for b in Bucket if b not in (Bucket.HOUR, Bucket.CLOCK, Bucket.CLASS)]
EPOCH = datetime(2026, 10, 30, tzinfo=UTC)
INSTANTS = st.integers(0, 4 * 86_400_000).map(
    lambda ms: f"{EPOCH + timedelta(milliseconds=ms):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
)
DAYS = st.dates(datetime(2026, 10, 1).date(), datetime(2027, 1, 9).date()).map(str)
COMMANDS = st.lists(
    st.sampled_from(
        [
            "gmx_mpi",
            "mdrun",
            "-s",
            "topol.tpr",
            "/a/b",
            "--x=1",
            "a+b",
            "Ünder_Säge",
            "-",
            "*",
            "3.11",
        ]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)

OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "user.name": NAMES,
    "user.group": st.sampled_from(["ml", "bio"]),
    "program.name": NAMES,
    "program.tags": TAGS,
    "core_seconds": SECONDS,
    "process.pid": st.integers(0, 9),
    "rolled_up": st.booleans(),
    "local.day": DAYS,
    "process.start": INSTANTS,
    "process.command_line": COMMANDS,
    "labels": st.dictionaries(st.sampled_from(["colour", "a.b", "n/m"]), NAMES, min_size=1),
    "job.run": st.sampled_from(["fox/1@2", "fox/2@3"]),
}

PLAIN = [name for name in OPTIONAL if name != "labels"]


@st.composite
def documents(draw: st.DrawFn, dataset: str = "process") -> Document:
    document: Document = {
        "dataset": dataset,
        "@timestamp": draw(INSTANTS),
        "cluster": "fox",
        "host.name": draw(st.sampled_from(["c1", "c2"])),
        "sample.uptime": draw(st.integers(0, 3)),
        "process.entity_id": draw(st.sampled_from(["1-1", "2-2"])),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(OPTIONAL))))
    return document | {name: draw(OPTIONAL[name]) for name in sorted(chosen)}


VALUES = st.one_of(NAMES, SECONDS, st.integers(0, 9), st.booleans(), INSTANTS, DAYS)
FIELDS = st.sampled_from([*OPTIONAL, "host.name", "@timestamp", "labels.colour", "no.field"])


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    name, op = draw(FIELDS), draw(st.sampled_from(list(Op)))
    own = OPTIONAL.get(name, NAMES)
    if name == "labels":
        return Condition(name, draw(st.sampled_from([Op.EXISTS, Op.MISSING])))
    if name == "program.tags":
        own = st.sampled_from(["gpu", "mpi"])
    if op is Op.PREFIX:
        return Condition(
            draw(st.sampled_from(["user.name", "labels.colour", "program.tags"])), op, ("a",)
        )
    if op in (Op.AT_LEAST, Op.BELOW):
        name = draw(st.sampled_from(["core_seconds", "process.pid", "process.start", "local.day"]))
        return Condition(name, op, (draw(OPTIONAL[name]),))
    return Condition(name, op, tuple(draw(st.lists(st.one_of(own, VALUES), max_size=3))))


GROUPS = st.one_of(
    st.sampled_from(
        [Group(name) for name in [*OPTIONAL, "host.name", "no.field"] if name != "labels"]
    ),
    st.sampled_from([Group("local.day", bucket) for bucket in LOCAL]),
    st.sampled_from([Group("@timestamp", Bucket.HOUR), Group("process.start", Bucket.HOUR)]),
    st.just(Group("core_seconds", edges=(1, 10.5, 600))),
    st.just(Group("@timestamp", Bucket.DAY)),
)


@st.composite
def aggregates(draw: st.DrawFn, number: int = 0) -> Aggregate:
    function = draw(st.sampled_from(list(Function)))
    numbers = st.sampled_from(["core_seconds", "process.pid"])
    anything = st.sampled_from(PLAIN)
    if function in (Function.SUM, Function.PERCENTILE):
        name = draw(numbers)
    elif function in (Function.MIN, Function.MAX):
        name = draw(
            st.one_of(numbers, st.sampled_from(["process.start", "local.day", "user.name"]))
        )
    else:
        name = draw(anything)
    where = tuple(draw(st.lists(conditions(), max_size=1)))
    return Aggregate(f"a{number}", function, name, draw(st.sampled_from([0, 50, 90])), where)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    time = draw(st.sampled_from(["@timestamp", "process.start"]))
    bounds = st.none() | st.integers(0, 100).map(lambda hours: EPOCH + timedelta(hours=hours))
    return Plan(
        "process",
        tuple(draw(aggregates(number)) for number in range(draw(st.integers(1, 3)))),
        by=tuple(draw(st.lists(GROUPS, max_size=3, unique_by=lambda group: group.field))),
        where=tuple(draw(st.lists(conditions(), max_size=2))),
        start=draw(bounds),
        end=draw(bounds),
        time=time,
    )


SCOPES = st.sampled_from(
    [EVERYTHING, EVERYTHING, Scope(users=frozenset({"alice"}), groups=frozenset({"bio"})), Scope()]
)
RELAXED = settings(
    max_examples=40,
    report_multiple_bugs=False,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes of lakes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def answers(store: Store, plan: Plan, scope: Scope) -> list[Any]:
    """
    Rows in an order of their own, sums as near as floating point gets.
    """
    keys = [group.field for group in plan.by]
    rows = sorted(store.ask(plan, scope), key=lambda row: [str(row[key]) for key in keys])
    return [
        {k: pytest.approx(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows
    ]


@RELAXED
@given(
    st.lists(st.lists(documents(), max_size=12), min_size=1, max_size=3),
    st.lists(st.tuples(plans(), SCOPES), min_size=1, max_size=6),
    st.sampled_from(
        ["gmx mdrun", "tpr -x", '"gmx_mpi mdrun"', "top* 11", "/a/b", "säge", "- *", "b"]
    ),
)
def test_lake_and_memory_agree(
    batches: list[list[Document]], asked: list[tuple[Plan, Scope]], text: str
) -> None:
    """
    Outcomes of writing, documents, answers to plans and search hits are the same on both.
    """
    with tempfile.TemporaryDirectory() as folder:
        lake, memory = LakeStore(folder), MemoryStore()
        for batch in batches:
            one, other = lake.write(batch, "create"), memory.write(batch, "create")
            assert (one.accepted, one.duplicate) == (other.accepted, other.duplicate)
        order = ("@timestamp", "host.name", "sample.uptime", "process.entity_id")
        assert [d for batch in lake.scan("process", EVERYTHING, order=order) for d in batch] == [
            d for batch in memory.scan("process", EVERYTHING, order=order) for d in batch
        ]
        for plan, scope in asked:
            assert answers(lake, plan, scope) == answers(memory, plan, scope)
        found, expected = lake.search(text, EVERYTHING), memory.search(text, EVERYTHING)
        assert [(h.matched, h.command_line, h.samples, h.users) for h in found.hits] == [
            (h.matched, h.command_line, h.samples, h.users) for h in expected.hits
        ]
        assert found.total == expected.total
        lake.close()


@RELAXED
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from(["A", "B"])), max_size=8
        ),
        min_size=1,
        max_size=4,
    )
)
def test_versions_agree(batches: list[list[tuple[int, int, str]]]) -> None:
    """
    Whatever the order of versions within and between batches, the same one stays.
    """
    with tempfile.TemporaryDirectory() as folder:
        lake, memory = LakeStore(folder), MemoryStore()
        for batch in batches:
            written = [
                {
                    "dataset": "job",
                    "@timestamp": f"2026-1{number % 2}-01T00:00:00.000Z",
                    "cluster": "fox",
                    "job.run": f"fox/{number}",
                    "record.version": version,
                    "job.state": state,
                }
                for number, version, state in batch
            ]
            one, other = lake.write(written, "replace"), memory.write(written, "replace")
            assert (one.accepted, one.duplicate) == (other.accepted, other.duplicate)
        order = ("job.run",)
        assert [d for batch in lake.scan("job", EVERYTHING, order=order) for d in batch] == [
            d for batch in memory.scan("job", EVERYTHING, order=order) for d in batch
        ]
        lake.close()
