"""
A real Slurm asked by --live: our sums are sacct's, to the second.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from enrich.backfill.options import Options
from enrich.backfill.sacct import SacctReader
from enrich.backfill.sacct_live import Live
from enrich.backfill.sink import LakeSink
from enrich.backfill.tally import Rejects, Tally
from leadline.store.lake import LakeStore
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING
from tests.query.judge import Judge
from tests.query.loaded import documents
from tests.schedulers.real import started
from tests.schedulers.slurm import RealSlurm, missing

pytestmark = pytest.mark.slurm
KEYS = ("user.name", "project", "partition", "job.cores")


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with started(partial(RealSlurm, nodes=2), missing()) as real:
        yield real


def ask(store: LakeStore, place: Path, since: int = 0) -> Tally:
    options = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))
    reader = SacctReader(LakeSink(store), options, Rejects(None), store.staging)
    Live(reader, place, store.staging).read(since, 1 << 40)
    assert reader.tally.adds_up, reader.tally
    return reader.tally


def await_accounted(slurm: RealSlurm, **expected: int) -> None:
    """
    Until slurmdbd, which is told in bunches, knows so many jobs in these states and no others.
    """
    end, found = time.monotonic() + 90, Counter[str]()
    while time.monotonic() < end:
        found = Counter[str]()
        for states in ((), ("-s", "CA")):  # without states, what never could start is left out
            asked = ("sacct", "-a", "-n", "-P", "-X", "-S", "now-1hour", "-o", "JobIDRaw,State")
            rows = {line for line in slurm.run(*asked, "-E", "now", *states).splitlines() if line}
            found |= Counter(row.partition("|")[2].split()[0] for row in rows)
        if found == Counter(expected):
            return
        time.sleep(0.3)
    raise AssertionError(f"gave up waiting for {expected}: {found}")


def by_sacct(slurm: RealSlurm) -> dict[tuple[str, ...], tuple[int, int]]:
    """
    Core seconds and runs by user, account, partition and cores.
    """
    columns = "User,Account,Partition,AllocCPUS,ElapsedRaw,Start"
    asked = ("sacct", "-a", "-n", "-P", "-D", "-X", "-S", "now-1hour", "-o", columns)
    said = slurm.run(*asked, "-E", "now", "-s", "CD,F,CA,TO")
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for line in said.splitlines():
        *key, elapsed, start = line.split("|")
        if start == "None":
            key[3] = "None"  # what never started held nothing, whatever was asked for
        cores = int(key[3]) if key[3].isdigit() else 0
        seconds, runs = found.get(tuple(key), (0, 0))
        found[tuple(key)] = (seconds + cores * int(elapsed), runs + 1)
    return found


def by_store(store: LakeStore) -> dict[tuple[str, ...], tuple[int, int]]:
    sums = (
        Aggregate("held", Function.SUM, "job.core_seconds.allocated"),
        Aggregate("runs", Function.COUNT),
    )
    rows = store.ask(Plan("job", sums, by=tuple(map(Group, KEYS))), EVERYTHING)
    return {
        tuple(str(row[key]).removesuffix(".0") for key in KEYS): (
            int(float(str(row["held"] or 0))),
            int(str(row["runs"])),
        )
        for row in rows
    }


def test_our_sums_are_those_of_sacct(
    slurm: RealSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Completed, failed, cancelled and never started, an array, by user, account, partition, cores;
    asked again nothing changes, and a run that ended meanwhile is updated. Fifty random questions
    get the answer that plain Python finds.
    """
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    store = LakeStore(tmp_path / "lake")
    slurm.submit("games", "-n", "2", script="sleep 2")
    slurm.submit("games", script="exit 3")
    slurm.submit("news", "-a", "1-3", "-J", "many|names", script="sleep 1")
    running = slurm.submit("news", "-n", "3", script="sleep 60")
    held = slurm.submit("games", "--hold")
    slurm.run("scancel", held)
    await_accounted(slurm, CANCELLED=1, COMPLETED=4, FAILED=1, RUNNING=1)

    first = ask(store, tmp_path / "place", int(time.time()) - 3600)
    time.sleep(1.1)  # sacct counts whole seconds: asked within the same one, nothing has changed
    again = ask(store, tmp_path / "place")
    slurm.run("scancel", running)
    await_accounted(slurm, CANCELLED=2, COMPLETED=4, FAILED=1)
    later = ask(store, tmp_path / "place")

    assert (first.inserted, first.rejected.total()) == (7, 0)
    assert (again.inserted, again.updated) == (0, 1)  # the running one has run on
    assert (later.inserted, later.updated) == (0, 1)
    assert by_store(store) == by_sacct(slurm)
    assert sum(runs for _, runs in by_sacct(slurm).values()) == 7
    Judge(documents(store)).examine(store, 50, datetime.now(UTC), random.Random(1))
    store.close()
