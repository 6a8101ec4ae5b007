"""
An import that is killed anywhere goes on where it was and doubles nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from bench.backfill import records
from enrich.backfill.files import Source
from enrich.backfill.seen import Seen
from enrich.backfill.sge import SgeReader
from enrich.backfill.sink import LakeSink, Written
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import StoreError
from leadline.store.lake import LakeStore
from leadline.store.lake.bulk import Rows
from leadline.store.plan import Aggregate, Function, Plan
from leadline.store.scope import EVERYTHING
from tests.enrich.backfill.test_sge import OSLO

SLICE = 200_000  # bytes, so that a few thousand records are several slices
ROOT = Path(__file__).parents[3]
READ = """
import sys
from pathlib import Path
from tests.enrich.backfill.test_sge_killed import read
read(Path(sys.argv[1]), lambda position: print(position, flush=True))
"""


def quiet(position: int) -> None:
    """
    Nobody watches.
    """


def read(
    folder: Path, progress: Callable[[int], None] = quiet, fails_at: int | None = None
) -> Tally:
    store = LakeStore(folder / "lake", threads=1)
    sink = LakeSink(store) if fails_at is None else FailingSink(store, fails_at)
    reader = SgeReader(sink, OSLO, Rejects(None), folder, SLICE)
    try:
        with Source(str(folder / "accounting")) as source:
            reader.read(source, Seen(folder / "seen.json"), progress)
    finally:
        reader.close()
        store.close()
    return reader.tally


class FailingSink(LakeSink):
    """
    Refuses runs once, at the Nth slice.
    """

    def __init__(self, store: LakeStore, fails_at: int) -> None:
        super().__init__(store)
        self.left = fails_at

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        dataset: str,
        rows: Rows,
        after: Callable[[], object] = tuple,
    ) -> Written:
        self.left -= dataset == "job"
        if dataset == "job" and self.left == 0:
            after()
            raise StoreError("the disk is full")
        return super().write(con, dataset, rows, after)


@pytest.mark.parametrize("slices", [1, 3])
def test_an_import_that_was_killed_goes_on(tmp_path: Path, slices: int) -> None:
    """
    After kill -9 the next import ends with what one undisturbed import holds, to the second.
    """
    made = records(1, 0)[:4000]
    (tmp_path / "accounting").write_bytes(b"".join(made))
    command = [sys.executable, "-c", READ, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout
        for _ in range(slices):
            assert process.stdout.readline().strip()
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL

    tally = read(tmp_path)

    assert tally.adds_up
    holds_all(tmp_path, made)


@pytest.mark.parametrize("slice_number", [1, 2, 3])
def test_a_slice_that_could_not_be_stored_is_read_again(tmp_path: Path, slice_number: int) -> None:
    """
    What was parsed after it is not taken for known: the next import begins with it.
    """
    made = records(1, 0)[:4000]
    (tmp_path / "accounting").write_bytes(b"".join(made))
    with pytest.raises(StoreError, match="the disk is full"):
        read(tmp_path, fails_at=slice_number)

    tally = read(tmp_path)

    assert tally.inserted <= len(made)
    holds_all(tmp_path, made)


def holds_all(folder: Path, made: list[bytes]) -> None:
    """
    Counts and sums of the runs and of their days are those of the file.
    """
    store = LakeStore(folder / "lake")
    used = Aggregate("used", Function.SUM, "job.core_seconds.used")
    allocated = Aggregate("held", Function.SUM, "job.core_seconds.allocated")
    plan = Plan("job", (Aggregate("n", Function.COUNT), used, allocated))
    row = store.ask(plan, EVERYTHING)[0]
    fields = [line.decode().split(":") for line in made]
    ran = [(f, int(f[10]) - int(f[9])) for f in fields if f[9] != "0"]
    assert row["n"] == len(made)
    assert row["held"] == sum(seconds * int(f[34]) for f, seconds in ran)
    assert row["used"] == pytest.approx(sum(float(f[36]) for f, _ in ran))
    days = Aggregate("held", Function.SUM, "core_seconds_allocated")
    assert row["held"] == pytest.approx(
        store.ask(Plan("job_slice", (days,)), EVERYTHING)[0]["held"]
    )
    store.close()
