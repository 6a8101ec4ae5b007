"""
A real Grid Engine runs jobs: our sums over its accounting are qacct's, to the second.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.store.lake import LakeStore
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING
from tests.enrich.backfill.test_sge import import_file
from tests.query.judge import Judge
from tests.query.loaded import documents
from tests.schedulers.real import started
from tests.schedulers.sge import RealGridEngine, missing

pytestmark = pytest.mark.sge
KEYS = {
    "OWNER": "user.name",
    "PROJECT": "project",
    "QUEUE": "partition",
    "SLOTS": "job.cores",
}
OPTIONS = {"OWNER": "-o", "PROJECT": "-P", "QUEUE": "-q", "SLOTS": "-slots"}
RECORDS = 11  # of the jobs below
Sums = dict[tuple[str, ...], tuple[float, float]]


@pytest.fixture(scope="module")
def engine() -> Iterator[RealGridEngine]:
    with started(RealGridEngine, missing()) as real:
        yield real


@pytest.fixture(scope="module")
def accounting(engine: RealGridEngine) -> Path:
    """
    Of an array, parallel jobs on one and on several hosts' terms, failed, killed and rerun ones.
    """
    again = engine.folder / "again"
    again.mkdir(mode=0o777)
    again.chmod(0o777)
    once = f"mkdir {again}/once 2>/dev/null && exit 99; sleep 1"
    slave = f"qrsh -inherit -nostdin {engine.host} sleep 1; sleep 1"
    busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    jobs = [
        engine.submit("games", "-N", "busy", "-P", "chem", script=busy),
        engine.submit("news", "-N", "tasks", "-t", "1-3", "-P", "geo", script="exit 3"),
        engine.submit("news", "-N", "smp", "-pe", "smp", "2", "-P", "chem", script="sleep 2"),
        engine.submit("games", "-N", "mpi", "-pe", "mpi", "2", "-P", "geo", script=slave),
        engine.submit("games", "-N", "again", "-r", "y", script=once),
        engine.submit("news", "-N", "killed", script="kill -SEGV $$"),
    ]
    long = engine.submit("games", "-N", "long", "-q", "short.q")
    engine.await_state(long, "r")
    engine.run("qdel", long)
    nowhere = engine.submit("news", "-N", "later", "-h")
    engine.run("qdel", nowhere)  # never began: no record of it
    for job in (*jobs, long):
        engine.await_state(job)
    engine.await_records(RECORDS)
    return engine.accounting


@pytest.fixture
def lake(accounting: Path, tmp_path: Path) -> Iterator[LakeStore]:
    store = LakeStore(tmp_path / "lake")
    path = tmp_path / "accounting"
    shutil.copy(accounting, path)
    tally = import_file(store, path)
    assert tally.read == len(records(path))
    assert tally.rejected.total() == 0
    yield store
    store.close()


def records(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def by_qacct(engine: RealGridEngine, path: Path, names: tuple[str, ...]) -> Sums:
    """
    Wall and CPU seconds by what qacct calls NAMES.
    """
    said = engine.run("qacct", "-f", str(path), *(OPTIONS[name] for name in names))
    header, _, *rows = [line for line in said.splitlines() if line.strip()]
    titles = header.replace("CLUSTER QUEUE", "QUEUE").split()
    found: Sums = {}
    for row in rows:
        cells = dict(zip(titles, row.split(), strict=True))
        key = tuple(cells[name] for name in names)
        found[key] = (float(cells["WALLCLOCK"]), float(cells["CPU"]))
    return found


def by_lake(lake: LakeStore, names: tuple[str, ...]) -> Sums:
    sums = (
        Aggregate("wall", Function.SUM, "job.wall.seconds"),
        Aggregate("cpu", Function.SUM, "job.core_seconds.used"),
    )
    plan = Plan("job", sums, by=tuple(Group(KEYS[name]) for name in names))
    return {
        tuple("NONE" if row[KEYS[n]] is None else f"{row[KEYS[n]]}" for n in names): (
            float(str(row["wall"] or 0)),
            float(str(row["cpu"] or 0)),
        )
        for row in lake.ask(plan, EVERYTHING)
    }


@pytest.mark.parametrize(
    "names",
    [("OWNER",), ("PROJECT",), ("QUEUE",), ("OWNER", "SLOTS"), ("QUEUE", "OWNER", "PROJECT")],
    ids="+".join,
)
def test_our_sums_are_those_of_qacct(
    engine: RealGridEngine, lake: LakeStore, tmp_path: Path, names: tuple[str, ...]
) -> None:
    """
    To the second by user, project, queue, slots and together. A run on several hosts took its
    wall time once for us, where qacct adds up its lines: those of its slaves are left out there.
    """
    path, masters = tmp_path / "accounting", tmp_path / "masters"
    kept = [line for line in records(path) if line.split(":")[41] == "NONE"]
    masters.write_text("\n".join(kept) + "\n")
    assert len(kept) < len(records(path))

    ours = by_lake(lake, names)
    theirs = by_qacct(engine, path, names)
    walls = by_qacct(engine, masters, names)

    assert ours.keys() == theirs.keys()
    assert {key: wall for key, (wall, _) in ours.items()} == {k: w for k, (w, _) in walls.items()}
    for key, (_, cpu) in ours.items():
        assert cpu == pytest.approx(theirs[key][1], abs=0.0006 * RECORDS)  # it prints milliseconds


def test_what_became_of_each(lake: LakeStore) -> None:
    """
    Array tasks, a rerun told from its first try, signals and failures under their names.
    """
    runs: dict[object, list[Document]] = {}
    for batch in lake.scan("job", EVERYTHING, order=("job.start",)):
        for run in batch:
            runs.setdefault(run["job.name"], []).append(run)

    assert {"1", "2", "3"} == {str(run["job.array.task"]) for run in runs["tasks"]}
    assert {("FAILED", 3)} == {(run["job.state"], run["job.exit_code"]) for run in runs["tasks"]}
    assert ["REQUEUED", "COMPLETED"] == [run["job.state"] for run in runs["again"]]
    assert ("FAILED", 11) == (runs["killed"][0]["job.state"], runs["killed"][0]["job.exit_signal"])
    assert "CANCELLED" == runs["long"][0]["job.state"]
    assert (2, "one-node") == (runs["smp"][0]["job.cores"], runs["smp"][0]["job.class"])
    assert (1, 2) == (len(runs["mpi"]), runs["mpi"][0]["job.cores"])
    assert "later" not in runs


def test_random_questions(lake: LakeStore) -> None:
    """
    Fifty of them get the answer that plain Python finds in what the real daemons wrote.
    """
    Judge(documents(lake)).examine(lake, 50, datetime.now(UTC), random.Random(1))
