"""
sacct asked in windows: a scripted one that answers from a table and notes what it was asked.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest

from enrich.backfill import sacct_live
from enrich.backfill.files import SourceError
from enrich.backfill.options import Options
from enrich.backfill.sacct import SacctReader
from enrich.backfill.sacct_live import DAY, FIRST, HOUR, LONGEST, LOOK_BACK, OVERLAP, Live
from enrich.backfill.sink import StoreSink
from enrich.backfill.tally import Rejects
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

NOW = 1795233600  # 2026-11-21T04:00:00Z
SCRIPT = """#!{python} -SE
import json, os, sys, time
folder = {folder!r}
asked = sys.argv[1:]
option = lambda name: asked[asked.index(name) + 1] if name in asked else None
calls = open(folder + "/calls", "a")
moments = [time.strptime(option(n), "%Y-%m-%dT%H:%M:%S") for n in ("-S", "-E")]
since, until = (__import__("calendar").timegm(moment) for moment in moments)
print(json.dumps([since, until, option("-s")]), file=calls)
if os.path.exists(folder + "/broken"):
    sys.exit("sacct: error: slurm_persist_conn_open_without_init: failed to open connection")
assert os.environ["TZ"] == "UTC" and os.environ["SLURM_TIME_FORMAT"] == "%s"
columns = option("-o").split(",")
cut = next(word for word in asked if word.startswith("--delimiter="))[12:]
print(cut.join(columns))
for row in json.load(open(folder + "/table")):
    begun = int(row["Submit"])
    ended = int(row["End"]) if row["End"].isdigit() else 10**10
    if begun < until and ended >= since and (option("-s") in (None, "CA")):
        if option("-s") == "CA" and not row["State"].startswith("CANCELLED"):
            continue
        print(cut.join(row.get(name, "") for name in columns))
"""


class Cluster:
    def __init__(self, folder: Path, clock: int = NOW) -> None:
        self.folder = folder
        self.now = clock
        self.store = MemoryStore()
        self.paused = 0
        program = folder / "bin" / "sacct"
        program.parent.mkdir()
        program.write_text(SCRIPT.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
        self.runs: dict[int, dict[str, str]] = {}

    def ran(self, number: int, begun: int, ended: int | None, **more: str) -> None:
        self.runs[number] = {
            **{"JobIDRaw": str(number), "JobID": str(number), "User": "alice", "AllocCPUS": "2"},
            "State": "COMPLETED" if ended else "RUNNING",
            **{"Submit": str(begun), "Start": str(begun), "End": str(ended or "Unknown")},
            "ElapsedRaw": str((ended or self.now) - begun),
            "JobName": "we|rd\x1fname"[: 5 if number % 2 else 20].replace("\x1f", " "),
            **more,
        }

    def ask(self, since: int = 0, until: int = 10**10) -> SacctReader:
        (self.folder / "table").write_bytes(orjson.dumps(list(self.runs.values())))
        options = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))
        reader = SacctReader(StoreSink(self.store), options, Rejects(None), self.folder)
        live = Live(reader, self.folder / "place", self.folder, lambda: self.now, self._pause)
        live.read(since, until)
        assert reader.tally.adds_up, reader.tally
        return reader

    def calls(self) -> list[tuple[int, int]]:
        """
        The windows asked for since this was last asked.
        """
        path = self.folder / "calls"
        lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        path.unlink()
        assert {line[2] for line in lines} == {None, "CA"}
        return [(since, until) for since, until, states in lines if states is None]

    def jobs(self) -> dict[object, object]:
        found = [d for batch in self.store.scan("job", EVERYTHING) for d in batch]
        return {d["job.local_id"]: d.get("job.core_seconds.used") for d in found}

    def _pause(self, seconds: float) -> None:
        self.paused += 1


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return found


def test_windows_follow_each_other_and_are_bounded(cluster: Cluster) -> None:
    """
    The first call asks for the last thirty days, a day at most at once, and rests in between.
    """
    for number in range(100):
        cluster.ran(number + 1, NOW - number * HOUR * 6 - 100, NOW - number * HOUR * 6)

    tally = cluster.ask().tally

    calls = cluster.calls()
    assert (calls[0][0], calls[-1][1]) == (NOW - FIRST, NOW)
    assert all(one[1] == other[0] for one, other in pairwise(calls))
    assert max(until - since for since, until in calls) <= LONGEST
    assert cluster.paused == len(calls) - 1
    assert len(cluster.jobs()) == tally.inserted == 100


def test_the_next_call_overlaps_the_last_one(cluster: Cluster) -> None:
    """
    A record that slurmdbd got late is caught, one that did not change is not written again.
    """
    cluster.ran(1, NOW - 500, NOW - 400)
    cluster.ask(since=NOW - 4 * DAY)
    cluster.calls()
    cluster.ran(2, NOW - 300, NOW - 200)
    cluster.now += 600

    tally = cluster.ask().tally

    assert cluster.calls() == [(NOW - OVERLAP, NOW + 600)]
    assert (tally.inserted, tally.unchanged) == (1, 1)
    assert cluster.jobs().keys() == {"1", "2"}


def test_once_a_day_it_looks_further_back(cluster: Cluster) -> None:
    """
    What was corrected within the week is updated.
    """
    cluster.ran(1, NOW - 3 * DAY, NOW - 2 * DAY, TotalCPU="10:00")
    cluster.ask(since=NOW - 4 * DAY)
    cluster.calls()
    cluster.ran(1, NOW - 3 * DAY, NOW - 2 * DAY, TotalCPU="20:00")
    cluster.now += HOUR
    cluster.ask()
    before = cluster.jobs()
    cluster.now += DAY
    assert cluster.calls()[0][0] == NOW - OVERLAP

    tally = cluster.ask().tally

    assert cluster.calls()[0][0] == cluster.now - LOOK_BACK
    assert tally.updated == 1
    assert (before, cluster.jobs()) == ({"1": 600}, {"1": 1200})


def test_a_running_job_ends(cluster: Cluster) -> None:
    """
    Provisional while it runs; its end replaces it.
    """
    cluster.ran(1, NOW - 500, None)
    cluster.ask(since=NOW - 4 * DAY)
    cluster.now += 600
    cluster.ran(1, NOW - 500, NOW + 100)

    tally = cluster.ask().tally

    [job] = [d for batch in cluster.store.scan("job", EVERYTHING) for d in batch]
    assert (tally.inserted, tally.updated) == (0, 1)
    assert "provisional" not in job
    assert job["job.wall.seconds"] == 600


def test_an_answer_that_fails_is_asked_for_again(cluster: Cluster) -> None:
    """
    What was read before is kept, and the next call goes on there.
    """
    cluster.ran(1, NOW - 500, NOW - 400)
    cluster.ask(since=NOW - 4 * DAY)
    cluster.calls()
    cluster.now += 2 * HOUR
    (cluster.folder / "broken").touch()
    with pytest.raises(SourceError, match="failed to open connection"):
        cluster.ask()
    (cluster.folder / "broken").unlink()
    (cluster.folder / "calls").unlink()

    cluster.ask()

    assert cluster.calls() == [(NOW - OVERLAP, NOW + 2 * HOUR)]
    assert not list(cluster.folder.glob("sacct-*"))


def test_a_later_span_leaves_no_gap(cluster: Cluster) -> None:
    """
    Asked for one later span, the next call still goes on where all before it is known.
    """
    cluster.ask(until=NOW - 10 * DAY)
    cluster.ask(since=NOW - 2 * DAY, until=NOW - DAY)
    cluster.calls()

    cluster.ask()

    calls = cluster.calls()
    assert (calls[0][0], calls[-1][1]) == (NOW - 10 * DAY - OVERLAP, NOW)


def test_no_slurm_here(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The way out is in the message.
    """
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(SourceError, match="where Slurm's commands are"):
        cluster.ask()


@pytest.mark.parametrize(
    ("seconds", "size", "expected"),
    [(0.1, 10, 12), (2.0, 10, 6), (9.0, 10, 3), (0.1, 100 << 20, 3)],
)
def test_windows_fit_the_answers(seconds: float, size: int, expected: int) -> None:
    """
    Quick and small answers make the next window longer, slow or large ones shorter.
    """
    assert sacct_live._next(6 * HOUR, seconds, size) == expected * HOUR


def test_the_command_asks_in_utc() -> None:
    """
    The delimiter is one that no name holds, and free texts come last.
    """
    asked = sacct_live.command(NOW - HOUR, NOW)

    assert asked[:4] == ["sacct", "-a", "-D", "-P"]
    assert asked[-4:] == ["-S", "2026-11-21T03:00:00", "-E", "2026-11-21T04:00:00"]
    assert asked[asked.index("-o") + 1].endswith("WorkDir,SubmitLine,JobName")
    assert datetime.fromtimestamp(NOW, UTC).hour == 4
