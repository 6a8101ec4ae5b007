"""
sacct -P: real dumps of Slurm 22.05, and the traps its text sets.
"""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.sacct import SacctReader, recognise
from enrich.backfill.seen import Seen
from enrich.backfill.sink import StoreSink
from enrich.backfill.tally import Rejects, Tally
from enrich.chain import Chain
from enrich.days import days
from enrich.identity import Identities, Span
from enrich.rules import Rules
from enrich.step import Context
from enrich.steps.identity import build
from leadline.errors import FormatError
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

CAPTURES = Path(__file__).parent / "captures" / "slurm-22.05.8"
OSLO = ZoneInfo("Europe/Oslo")
HEADER = (
    "JobIDRaw|JobID|JobName|User|Account|Partition|State|ExitCode|Submit|Eligible|Start|End"
    "|ElapsedRaw|TotalCPU|AllocCPUS|NNodes|NTasks|MaxRSS|AllocTRES|TRESUsageInTot"
)
TIMES = "2026-11-01T10:00:00|2026-11-01T10:00:00|2026-11-01T11:00:00|2026-11-01T12:00:00"
JOB = f"7|7|train|alice|ml|gpu|COMPLETED|0:0|{TIMES}|3600|45:21.005|4|2||"
TRES = "|cpu=4,gres/gpu:a100=2,gres/gpu=2|"


def read(
    path: Path, zone: ZoneInfo = OSLO, into: MemoryStore | None = None
) -> tuple[MemoryStore, Tally]:
    store = MemoryStore() if into is None else into
    options = Options(cluster="fox", zone=zone)
    reader = SacctReader(StoreSink(store), options, Rejects(None), path.parent)
    with Source(str(path)) as source:
        reader.read(source, Seen(None), lambda position: None)
    assert reader.tally.adds_up, reader.tally
    return store, reader.tally


def write(folder: Path, *lines: str) -> Path:
    path = folder / "dump"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def jobs(store: MemoryStore) -> list[dict[str, object]]:
    return [d for batch in store.scan("job", EVERYTHING, order=("job.run",)) for d in batch]


def test_runs_and_their_days_belong_where_the_tables_say(tmp_path: Path) -> None:
    """
    What sacct tells is identified like what shippers send: tables come before its own groups.
    """
    known = Identities({"alice": [Span("bio", "", "", "")]}, {"bio": [Span("science", "", "", "")]})
    chain = Chain([build(Context(rules=Rules([]), identities=known))])
    store = MemoryStore()
    options = Options(cluster="fox", zone=OSLO, chain=lambda: chain)
    reader = SacctReader(StoreSink(store), options, Rejects(None), tmp_path)
    with Source(str(write(tmp_path, JOB + TRES))) as source:
        reader.read(source, Seen(None), lambda position: None)
    for dataset in ("job", "job_slice"):
        (found,) = [d for batch in store.scan(dataset, EVERYTHING) for d in batch]
        assert ("bio", ["science"]) == (found["user.group"], list(found["user.metagroup"]))  # type: ignore[call-overload]


@pytest.mark.parametrize(("name", "refused"), [("sacct_wide.txt", 0), ("sacct_all.txt", 4)])
def test_real_dumps_are_read_whole(name: str, refused: int) -> None:
    """
    Each job of the dump is a run and steps are folded in. With `-o ALL` free texts stand anywhere,
    so that a name with separators cannot be told apart: refused, with its steps.
    """
    store, tally = read(CAPTURES / name, ZoneInfo("UTC"))

    states = [str(d["job.state"]) for d in jobs(store)]
    assert tally.rejected.total() == refused
    assert {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED"} <= set(states)
    assert not any("by" in word for word in states)
    peaks = [int(str(d.get("job.memory.peak.bytes", 0))) for d in jobs(store)]
    assert max(peaks) == 419308 << 10  # what sacct shows for the job that took most


def test_days_of_real_runs_add_up() -> None:
    """
    The seconds of a run's days are its wall time.
    """
    store, _ = read(CAPTURES / "sacct_wide.txt", ZoneInfo("UTC"))
    walls: dict[object, float] = {}
    for batch in store.scan("job_slice", EVERYTHING):
        for day in batch:
            walls[day["job.run"]] = walls.get(day["job.run"], 0) + float(str(day["wall.seconds"]))

    for job in jobs(store):
        if "job.end" in job and job.get("job.wall.seconds"):
            assert walls[job["job.run"]] == pytest.approx(job["job.wall.seconds"], abs=1.01)


def test_names_with_separators_shift_nothing() -> None:
    """
    sacct escapes nothing: a name with | makes columns more, and is still the name of its job.
    """
    store, _ = read(CAPTURES / "sacct_wide.txt", ZoneInfo("UTC"))

    [job] = [d for d in jobs(store) if d["job.local_id"] == "18"]

    assert job["job.name"] == "we|rd `näme` a=b, c;d"
    assert job["job.state"] == "COMPLETED"
    assert job["job.core_seconds.used"] == pytest.approx(0.002)


def test_a_job_and_its_steps(tmp_path: Path) -> None:
    """
    GPUs once, CPU time with minutes and milliseconds, memory of all tasks of the largest step.
    """
    path = write(
        tmp_path,
        f"{JOB}{TRES}",
        f"7.batch|7.batch|batch||ml||COMPLETED|0:0|{TIMES}|3600|00:10|4|1|1|1024K||",
        f"7.0|7.0|srun||ml||COMPLETED|0:0|{TIMES}|3600|45:00|4|2|4|500M||mem=1500M",
    )

    store, tally = read(path)
    [job] = jobs(store)

    assert (tally.read, tally.inserted, tally.merged) == (3, 1, 2)
    assert (job["job.gpus"], job["gpu.models"]) == (2, ["A100"])
    assert job["job.core_seconds.used"] == pytest.approx(2721.005)
    assert job["job.memory.peak.bytes"] == 1500 << 20
    assert job["job.submit"] == "2026-11-01T09:00:00.000Z"
    assert job["job.wait.seconds"] == 3600
    assert job["job.class"] == "multi-node"


def test_what_was_read_and_written_and_where(tmp_path: Path) -> None:
    """
    All tasks of all steps added up; and which task, on which node, took most.
    """
    more = "|TRESUsageOutTot|AveDiskRead|MaxRSSNode|MaxRSSTask|MaxDiskRead|MaxDiskReadNode"
    first = "cpu=1,fs/disk=3000,mem=1M|fs/disk=500||n1|0|2000|n1"
    second = "|16?|1K|n2|3|4000|n2"
    path = tmp_path / "dump"
    lines = [
        HEADER + more,
        f"{JOB}{TRES}||||||",
        f"7.0|7.0|a||ml||COMPLETED|0:0|{TIMES}|3600|00:10|4|1|2|2M||{first}",
        f"7.1|7.1|b||ml||COMPLETED|0:0|{TIMES}|3600|00:10|4|1|4|9M||{second}",
    ]
    path.write_text("\n".join(lines) + "\n")

    [job] = jobs(read(path)[0])

    assert (job["job.io.read.bytes"], job["job.io.write.bytes"]) == (3000 + 4 * 1024, 500)
    assert job["labels"] == {
        "sacct.max_rss.bytes": 9 << 20,
        "sacct.max_rss.node": "n2",
        "sacct.max_rss.task": "3",
        "sacct.max_disk_read.bytes": 4000,
        "sacct.max_disk_read.node": "n2",
    }


@pytest.mark.parametrize("last", [False, True])
def test_newlines_in_names(tmp_path: Path, last: bool) -> None:
    """
    Amid the fields or as the last of them, a name's newlines neither shift nor swallow a record.
    """
    row = "{0}|{0}|alice|COMPLETED|2026-11-01T10:00:00|2026-11-01T11:00:00|2026-11-01T12:00:00"
    head = "JobIDRaw|JobID|User|State|Submit|Start|End"
    names = ("a\nb\nc", "plain", "two\nlines")
    path = tmp_path / "dump"
    rows = [row.format(number) for number in (1, 2, 3)]
    if last:
        lines = [f"{head}|JobName", *(f"{r}|{n}" for r, n in zip(rows, names, strict=True))]
    else:
        lines = [
            head.replace("|State", "|JobName|State"),
            *(r.replace("|COMPLETED", f"|{n}|COMPLETED") for r, n in zip(rows, names, strict=True)),
        ]
    path.write_text("\n".join(lines) + "\n")

    store, tally = read(path)

    assert [d["job.name"] for d in jobs(store)] == ["a b c", "plain", "two lines"]
    assert tally.rejected.total() == 0


def test_a_requeued_job_is_two_runs(tmp_path: Path) -> None:
    """
    The same number submitted again is another run, with hours of its own.
    """
    later = (
        JOB.replace("2026-11-01T10", "2026-11-01T13").replace("T11", "T14").replace("T12", "T15")
    )

    store, _ = read(write(tmp_path, f"{JOB}{TRES}", f"{later}{TRES}"))

    found = jobs(store)
    assert len({run["job.run"] for run in found}) == 2
    assert [run["job.wall.seconds"] for run in found] == [3600, 3600]


def test_a_never_started_job_holds_nothing(tmp_path: Path) -> None:
    """
    Slurm prints what was asked for as allocated; nothing was.
    """
    times = "2026-11-01T10:00:00|Unknown|None|2026-11-01T12:00:00"
    line = f"8|8|x|bob|ml|gpu|CANCELLED by 2101037|0:0|{times}|0|00:00:00|64|1|||cpu=64|"

    [job] = jobs(read(write(tmp_path, line))[0])

    assert (job["job.state"], job["job.cancelled_by"]) == ("CANCELLED", "2101037")
    assert not {"job.cores", "job.start", "job.core_seconds.allocated"} & job.keys()


def test_a_running_job_is_provisional(tmp_path: Path) -> None:
    """
    Its end is not known; a later dump that knows it wins, also when the older is read last.
    """
    running = JOB.replace("2026-11-01T12:00:00", "Unknown").replace("COMPLETED", "RUNNING")
    path = write(tmp_path, f"{running}{TRES}")
    [job] = jobs(read(path)[0])
    ended = write(tmp_path, f"{JOB}{TRES}")
    [done] = jobs(read(ended)[0])

    assert job["provisional"] is True
    assert "provisional" not in done
    assert int(str(done["record.version"])) > int(str(job["record.version"]))


def test_a_dump_read_again_changes_nothing(tmp_path: Path) -> None:
    """
    Though it is newer than what is stored, what says the same is unchanged and not written.
    """
    path = write(tmp_path, f"{JOB}{TRES}", f"9|9{JOB[3:]}{TRES}")
    store, _ = read(path)
    before = jobs(store)
    path.touch()

    _, again = read(path, into=store)
    write(tmp_path, f"{JOB}{TRES}".replace("45:21", "46:21"), f"9|9{JOB[3:]}{TRES}")
    _, corrected = read(path, into=store)

    assert (again.inserted, again.updated, again.unchanged) == (0, 0, 2)
    assert (corrected.inserted, corrected.updated, corrected.unchanged) == (0, 1, 1)
    assert [d["job.core_seconds.used"] for d in before] == [2721.005] * 2
    assert [d["job.core_seconds.used"] for d in jobs(store)] == [2781.005, 2721.005]


def test_a_corrected_end_takes_its_days_back(tmp_path: Path) -> None:
    """
    A run that ended earlier than was thought leaves no hours in the days after its end.
    """
    path = write(tmp_path, f"{JOB}{TRES}".replace("2026-11-01T12", "2026-11-03T12"))
    store, _ = read(path)
    write(tmp_path, f"{JOB}{TRES}")

    read(path, into=store)

    days = [d for batch in store.scan("job_slice", EVERYTHING) for d in batch]
    assert [d["wall.seconds"] for d in days] == [3600, 0, 0]
    assert [d["core_seconds_allocated"] for d in days] == [14400, 0, 0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7|7", "fields"),
        (f"{JOB}{TRES}".replace("2026-11-01T10:00:00|2", "yesterday|2"), "not a time"),
        (f"{JOB}{TRES}".replace("T12:00:00", "T09:00:00"), "end before submission"),
        (f"{JOB}{TRES}".replace("45:21.005", "inf"), "not a duration"),
        (f"7.0|7.0{JOB[3:]}{TRES}", "a step without its job"),
    ],
)
def test_broken_lines_are_refused_with_their_reason(tmp_path: Path, line: str, reason: str) -> None:
    """
    One broken line does not keep its neighbours out.
    """
    good = f"9|9{JOB[3:]}{TRES}"

    store, tally = read(write(tmp_path, good, line, good.replace("9|9", "10|10", 1)))

    assert len(jobs(store)) == 2
    assert [reason in found for found in tally.rejected] == [True]


@given(st.integers(1_600_000_000, 1_900_000_000), st.integers(0, 40 * 86400))
def test_days_add_up(start: int, length: int) -> None:
    """
    Over any span, with clocks changed in between.
    """
    found = list(days(start, start + length, OSLO))

    assert sum(day.seconds for day in found) == length
    assert all(sum(day.hours.values()) == day.seconds for day in found)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=10))
def test_arbitrary_text_adds_up(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    """
    Whatever stands in a dump, each line is counted once and nothing but FormatError is raised.
    """
    read(write(tmp_path_factory.mktemp("dump"), *(line.replace("\n", "|") for line in lines)))


def test_dumps_are_recognised() -> None:
    """
    By their header.
    """
    assert recognise((CAPTURES / "sacct_all.txt").read_bytes()[:4096])
    assert not recognise((CAPTURES / "sacct_X.txt").read_bytes()[:4096])
    assert not recognise(b"")


def test_a_dump_without_a_header_is_refused(tmp_path: Path) -> None:
    """
    The way out is in the message.
    """
    path = tmp_path / "dump"
    path.write_text("7|7|train\n")

    with pytest.raises(FormatError, match="sacct -a -D -P"):
        read(path)
