"""The short way comes to the very documents of the long way, and shippers' lines go it."""

from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.samples import lines, sample
from enrich import measures
from enrich.chain import Chain, build_chain
from enrich.rules import read_rules
from enrich.splice import MOMENT
from enrich.step import Context, Step
from enrich.steps.ingested import Ingested
from enrich.steps.job_context import JobContext
from enrich.steps.redact import Redact
from leadline.errors import FormatError
from leadline.formats import DATASETS, Document, Kind
from leadline.formats.ids import document_id
from leadline.formats.validate import read_line
from leadline.settings.common import ClusterSettings
from leadline.store.contract import Ready
from shipper.settings import CollectSettings
from shipper.snapshot import Snapshots
from tests.shipper.fake import FakeSystem

CONTEXT = Context(
    rules=read_rules(),
    clusters={"fox": ClusterSettings(zone="Europe/Oslo", aliases=("old_fox",))},
)


def chain() -> Chain:
    made = build_chain(CONTEXT)
    fixed = [Ingested("r1", clock=lambda: 1.8e9) if s.name == "ingested" else s for s in made.steps]
    return Chain(fixed)


def line_of(who: Document, measured: Document, moment: Document) -> bytes:
    """
    A line in the shipper's order.
    """
    return orjson.dumps({"dataset": "process", **who, **measured, **moment})


def plain(**more: object) -> bytes:
    who = {"process.entity_id": "1-1", "process.name": "gmx", "user.name": "alice"}
    moment = {"@timestamp": "2026-03-02T10:14:30.000Z", "host.name": "c1", "boot.id": "b"}
    measured = {"process.state": "R", "core_seconds": 1.5}
    parts = {**who, **measured, **moment, "cluster": "fox", "sample.uptime": 9}
    return orjson.dumps({"dataset": "process", **parts, **more})


def taken(splicing: Chain, line: bytes) -> Ready | None:
    """
    What the short way makes of a line that was seen before.
    """
    splice = splicing.splicer.batch()
    for _ in range(2):
        splice(line)
    return splice(line)


def judged(line: bytes, judge: Chain) -> Document | None:
    try:
        return judge.one(read_line(line))
    except FormatError:
        return None


def assert_same(ready: Ready | None, line: bytes, judge: Chain) -> None:
    if ready is not None:
        document = judged(line, judge)
        assert document is not None
        assert document == ready.document()
        assert document_id(document).encode() == ready.id
        assert (document["dataset"], document["@timestamp"]) == (ready.dataset, ready.time)


def test_a_fleet_comes_to_the_same_documents() -> None:
    """
    Ten minutes of a hundred nodes, each line by both ways; nearly all go the short one.
    """
    splicing, judge = chain(), chain()
    splice = splicing.splicer.batch()
    short = 0
    for line in lines(20_000):
        ready = splice(line)
        short += ready is not None
        assert_same(ready, line, judge)
    assert short > 14_000


def test_what_the_scheduler_tells_is_told_anew_each_time() -> None:
    """
    Project, partition and run of a job heard of later reach the next sample of a known process.
    """
    splicing, judge = chain(), chain()
    line = line_of(
        {"process.entity_id": "1-1", "job.local_id": "17"},
        {"process.state": "R", "core_seconds": 2.0},
        {"@timestamp": "2026-03-02T10:14:30.000Z", "cluster": "old_fox", "host.name": "c1"},
    )
    before = taken(splicing, line)
    assert before is not None
    assert "project" not in before.document()
    job = {
        "dataset": "job_state",
        "@timestamp": "2026-03-02T10:00:00.000Z",
        "cluster": "fox",
        "job.local_id": "17",
        "job.submit": "2026-03-02T09:00:00.000Z",
        "job.state": "RUNNING",
        "project": "nn17k",
        "partition": "normal",
        "state.hash": "1",
    }
    for one in (splicing, judge):
        one.one(read_line(orjson.dumps(job)))
    after = taken(splicing, line)
    assert after is not None
    assert "nn17k" == after.document()["project"]
    assert_same(after, line, judge)


VALUES = st.one_of(
    st.sampled_from(
        ["", "x", "R", "gmx mdrun", "a,b", '"', ',"process.state":"R"', ',"@timestamp":"', "é\x00"]
    ),
    st.sampled_from(["--password=hunter2", "2026-03-02T10:14:30Z", "nn17k", "fox", "old_fox"]),
    st.integers(-1, 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.lists(st.sampled_from(["a", "b"]), max_size=2),
    st.dictionaries(st.sampled_from(["state", "x"]), st.integers(0, 3), max_size=1),
)
NAMES = st.sampled_from(
    [
        *("@timestamp", "process.state", "dataset", "job.run", "project", "cluster", "host.name"),
        *("local.day", "event.ingested", "process", "unheard.of", "labels", "process.start"),
        *("core_seconds", "stray", "process.entity_id", "sample.time", "interval.seconds"),
    ]
)
USUAL = {
    "process.pid": st.integers(0, 9),
    "process.name": st.sampled_from(["gmx", "sh", "é", "a,b"]),
    "process.command_line": st.sampled_from(["gmx mdrun", "mysql --password=hunter2", "\x00"]),
    "user.name": st.sampled_from(["alice", "bob"]),
    "job.local_id": st.just("17"),
    "unheard.of": VALUES,
}
MEASURABLE = {
    "core_seconds": st.sampled_from([0, 1.5, 1e-7, -1, -0.0, 10**15, 3.0]),
    "memory.rss.bytes": st.sampled_from([0, 4096, 2**62, 1.5]),
    "stray": st.sampled_from([True, False, 1]),
}
ODD = st.none() | st.tuples(st.integers(0, 3), NAMES, VALUES)


@given(
    who=st.fixed_dictionaries({}, optional=USUAL),
    measured=st.fixed_dictionaries({}, optional=MEASURABLE),
    odd=ODD,
)
def test_whatever_is_sent_comes_to_the_same(
    who: Document, measured: Document, odd: tuple[int, str, object] | None
) -> None:
    """
    Odd names and values at any place of a line: the same document by both ways, or the long one.
    """
    known = orjson.loads(plain())
    rest = {n: known[n] for n in ("@timestamp", "host.name", "boot.id", "cluster", "sample.uptime")}
    parts = [
        [("dataset", "process"), ("process.entity_id", "1-1"), *who.items()],
        [("process.state", "R"), *measured.items()],
        list(rest.items()),
        [("interval.seconds", 60.0)],
    ]
    if odd is not None:
        parts[odd[0]].append(odd[1:])
    inside = (orjson.dumps({name: value})[1:-1] for part in parts for name, value in part)
    line = b"{" + b",".join(inside) + b"}"  # names may come twice
    assert_same(taken(chain(), line), line, chain())


@pytest.mark.parametrize(
    "line",
    [
        plain(**{"core_seconds": -1.0}),
        plain(**{"core_seconds": 10**16}),
        plain(**{"process.thread.count": 1.5}),
        plain(**{"process.state": "--token=geheim"}),
        plain(**{"event.ingested": "2026-03-02T10:14:30.000Z"}),
        plain(**{"process.pid": {"x": 1}}),
        plain().replace(b'"core_seconds":1.5', b'"core_seconds":1.5,"core_seconds":1.6'),
        plain().replace(b'"core_seconds":1.5', b'"core_seconds":01'),
        plain().replace(b'"core_seconds":1.5', b'"core_seconds":1.5,"io.read.bytes":07'),
        plain().replace(b'"core_seconds":1.5', b'"core_seconds": 1.5'),
        plain()[:-1],
        plain() + b"}",
    ],
)
def test_what_is_odd_goes_the_long_way(line: bytes) -> None:
    """
    Values the gate would refuse or change, names said twice, and text that is no JSON.
    """
    assert taken(chain(), line) is None
    assert taken(chain(), plain()) is not None


def test_a_secret_is_gone_by_either_way() -> None:
    """
    What is remembered of a process is remembered redacted.
    """
    line = line_of(
        {"process.entity_id": "1-1", "process.command_line": "mysql --password=hunter2"},
        {"process.state": "S"},
        {"@timestamp": "2026-03-02T10:14:30.000Z", "cluster": "fox", "host.name": "c1"},
    )
    ready = taken(chain(), line)
    assert ready is not None
    assert b"hunter2" not in ready.data


def test_a_process_seen_once_is_not_remembered() -> None:
    """
    A short life costs no memory: only the second look is worth it.
    """
    splicing = chain()
    splice = splicing.splicer.batch()
    assert splice(plain()) is None
    (moment,) = splicing.splicer._moments.values()
    assert moment is not None
    assert {} == moment.known


def test_a_step_that_reads_measures_ends_the_short_way() -> None:
    """
    A plug-in that sees more than who and when gets every document whole.
    """
    step = Step(name="heavy", reads=("core_seconds",), writes=("heavy",), compute=lambda s: {})
    assert taken(Chain([Redact(), JobContext(), step]), plain()) is None
    other = Step(name="rack", reads=("host.name",), writes=("rack",), compute=lambda h: {"rack": h})
    ready = taken(Chain([Redact(), JobContext(), other]), plain())
    assert ready is not None
    assert "c1" == ready.document()["rack"]


def test_shippers_lines_go_the_short_way(tmp_path: Path) -> None:
    """
    Processes alone and rolled up, before and after their first interval, with cards or without.
    """
    system = FakeSystem(tmp_path / "machine")
    for pid in (300, 301, 302):
        system.process(pid, name=b"gmx", command=b"/opt/gmx\0mdrun", io=(10, 20))
    snapshots = Snapshots(CollectSettings(collectors=("process",), cluster="fox"), system, None)
    splicing, judge = chain(), chain()
    splice = splicing.splicer.batch()
    short = []
    for _ in range(4):
        system.pass_time(60)
        for document in snapshots.take():
            line = orjson.dumps(document)
            ready = splice(line)
            assert_same(ready, line, judge)
            if document["dataset"] == "process":
                short.append(ready is not None)
    snapshots.close()
    assert short[-1]
    assert sum(short) >= len(short) // 2


def test_measures_are_what_is_measured_of_a_process() -> None:
    """
    A field that is measured and not in the pattern would send every line the long way.
    """
    fields = DATASETS["process"].fields
    measured = {field.name for field in fields if field.kind is not Kind.ATTRIBUTE}
    assert measured <= measures.NAMES | MOMENT
    assert measures.PATTERN.match(plain()[plain().find(measures.BEGIN) :])


def test_samples_of_the_benchmark_are_a_shippers() -> None:
    """
    The same fields in the same order as a node sends them.
    """
    order = list(sample(5, random.Random(1)))
    assert [*order[:2], order[11], order[-9]] == [
        "dataset",
        "process.pid",
        "process.state",
        "@timestamp",
    ]
