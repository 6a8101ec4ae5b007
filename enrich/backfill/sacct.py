"""
`sacct -P` with any field list: the header decides; steps are folded into their job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from pathlib import Path

from enrich.backfill.days import days
from enrich.backfill.files import Slice, Source
from enrich.backfill.options import Options
from enrich.backfill.sacct_values import ABSENT, duration, gpus, instant, size, state, tres
from enrich.backfill.seen import Seen
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError, StoreError
from leadline.formats import SCHEMA_VERSION, Document, Type
from leadline.formats.redact import redact
from leadline.formats.runs import job_id, job_run
from leadline.formats.times import from_epoch
from leadline.formats.validate import LONGEST, check

Row = dict[str, str]
BATCH = 5000
SLICE = 32 << 20
NEEDED = ("Submit", "State")
FREE = ("JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Reason")
SHARED = (
    *("cluster", "schema.version", "event.ingested", "record.version", "user.name", "user.id"),
    *("user.group", "job.id", "job.run", "project", "partition", "qos", "job.state", "job.class"),
    *("gpu.models", "job.cores", "job.gpus", "job.node.count"),
)
LONGEST_KEYWORD = LONGEST[Type.KEYWORD]
MOST_EXTRA = 4  # separators too many in a line that is still tried to be read
ENDED = 10_000_000_000  # added to the version: an ended run stands above any unended one


class SacctReader:
    def __init__(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> None:
        self.sink = sink
        self.options = options
        self.rejects = rejects
        self.tally = Tally()
        self._jobs: list[Document] = []
        self._days: list[Document] = []

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None]) -> None:
        """
        A dump is read whole each time: it is no cumulative file, later ones correct it.
        """
        stamp = Path(source.name).stat().st_mtime if source.size else time.time()
        group: list[tuple[int, bytes, Row]] = []
        for item in self._rows(source, progress):
            # A job's steps follow it; with -D each try is a job of its own.
            step = "." in _identity(item[2])
            if group and not (step and _base(item[2]) == _base(group[0][2])):
                self._job(source.name, group, int(stamp))
                group = []
            group.append(item)
        if group:
            self._job(source.name, group, int(stamp))
        self._flush()

    def close(self) -> None:
        """
        Nothing is held open.
        """

    def _rows(
        self, source: Source, progress: Callable[[int], None]
    ) -> Iterator[tuple[int, bytes, Row]]:
        header: list[str] = []
        for piece in source.slices(0, SLICE):
            for number, raw in _logical_lines(piece, len(header)):
                if not raw.strip() or raw.startswith(b"#"):
                    continue
                fields = raw.decode("utf-8", "replace").split("|")
                if not header or fields == header:
                    header = [*fields]
                    self._check_header(source.name, header)
                    continue
                try:
                    yield number, raw, _row(header, fields)
                except FormatError as error:
                    self.tally.read += 1
                    self._refuse(source.name, number, raw, str(error))
            progress(piece.end)

    def _check_header(self, name: str, header: list[str]) -> None:
        missing = [field for field in NEEDED if field not in header]
        if missing or not {"JobID", "JobIDRaw"} & set(header):
            raise FormatError(
                f"no header with JobIDRaw, {', '.join(NEEDED)} in its first line; use"
                " sacct -a -D -P -S … -o JobIDRaw,JobID,Submit,State,…"
            )

    def _job(self, name: str, rows: list[tuple[int, bytes, Row]], stamp: int) -> None:
        self.tally.read += len(rows)
        number, raw, main = rows[0]
        self.tally.merged += len(rows) - 1
        try:
            if "." in _identity(main):
                raise FormatError("a step without its job")
            steps = [row for _, _, row in rows[1:]]
            document = check(_document(main, steps, self.options, stamp))
            ended = _seconds(main, "End", self.options)
        except (FormatError, ValueError, OverflowError) as error:
            self._refuse(name, number, raw, str(error))
            return
        if not self.options.since <= (ended or stamp) < self.options.until:
            self.tally.outside += 1
            return
        self._jobs.append(document)
        self._days += _slices(document, main, self.options, ended or stamp)
        if len(self._jobs) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        # Days before their run: whoever sees the run sees its hours.
        for documents in (self._days, self._jobs):
            outcome = self.sink.put(documents)
            if outcome.kept:
                raise StoreError(f"the store took only part: {outcome.reason}; run it again")
            if documents is self._jobs:
                self.tally.inserted += outcome.accepted
                self.tally.unchanged += outcome.duplicate
                for document, reason in outcome.rejected:
                    self._refuse(str(document.get("job.run")), 0, b"", reason)
        self._jobs, self._days = [], []

    def _refuse(self, name: str, line: int, raw: bytes, reason: str) -> None:
        self.tally.rejected[reason] += 1
        self.rejects.add(name, line, raw, reason)


def build(sink: Sink, options: Options, rejects: Rejects, staging: Path) -> SacctReader:
    return SacctReader(sink, options, rejects, staging)


def recognise(head: bytes) -> bool:
    fields = head.split(b"\n", 1)[0].split(b"|")
    return bool({b"JobID", b"JobIDRaw"} & set(fields)) and b"State" in fields


def _logical_lines(piece: Slice, width: int) -> Iterator[tuple[int, bytes]]:
    """
    Lines; one that is too short is put together with the next: names may hold newlines.
    """
    held, first = b"", 0
    for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
        if not width:
            width = raw.count(b"|") + 1 if raw.strip() and not raw.startswith(b"#") else 0
        joined = held + b" " + raw if held else raw
        if held and joined.count(b"|") >= width:
            yield first, held
            joined, held = raw, b""
        if joined.count(b"|") + 1 < width and joined.strip() and not joined.startswith(b"#"):
            held, first = joined, first if held else number
            continue
        yield (first if held else number), joined
        held = b""
    if held:
        yield first, held


def _row(header: list[str], fields: list[str]) -> Row:
    """
    Fields by name. Separators inside free texts are mended if that leaves all the rest certain.
    """
    extra = len(fields) - len(header)
    if extra < 0:
        raise FormatError(f"{len(fields)} fields, the header has {len(header)}")
    if extra == 0:
        return dict(zip(header, fields, strict=True))
    places = [header.index(name) for name in FREE if name in header]
    if extra > MOST_EXTRA or not places:
        raise FormatError(f"{len(fields)} fields, the header has {len(header)}")
    choices = combinations_with_replacement(places, extra)
    found = [row for row in (_merged(header, fields, c) for c in choices) if _plausible(row)]
    if not found:
        raise FormatError("separators in names: no way to read the line")
    row = dict(found[0])
    for name in header:
        if any(other[name] != row[name] for other in found):
            if name not in FREE:
                raise FormatError("separators in names: no single way to read the line")
            row[name] = ""  # whose text it is nobody can tell, and nothing is counted by it
    return row


def _merged(header: list[str], fields: list[str], places: tuple[int, ...]) -> Row:
    """
    One field more belongs to a column for each time it stands in PLACES.
    """
    row, at = {}, 0
    for place, name in enumerate(header):
        following = at + 1 + places.count(place)
        row[name] = "|".join(fields[at:following])
        at = following
    return row


def _plausible(row: Row) -> bool:
    return (
        row.get("JobIDRaw", "1").split(".")[0].isdigit()
        and row["State"].partition(" ")[0].replace("_", "").isupper()
        and all(_is_time(row[name]) for name in ("Submit", "Start", "End") if name in row)
        and all(row[n].isdigit() for n in ("ElapsedRaw", "AllocCPUS", "ReqCPUS") if n in row)
    )


def _is_time(text: str) -> bool:
    return text in ABSENT or text[:4].isdigit()


def _identity(row: Row) -> str:
    return row.get("JobIDRaw") or row.get("JobID", "")


def _base(row: Row) -> str:
    return _identity(row).partition(".")[0]


def _seconds(row: Row, name: str, options: Options) -> int | None:
    return instant(row.get(name, ""), options.zone)


def _document(main: Row, steps: list[Row], options: Options, stamp: int) -> Document:
    submit, start = _seconds(main, "Submit", options), _seconds(main, "Start", options)
    end, eligible = _seconds(main, "End", options), _seconds(main, "Eligible", options)
    if submit is None:
        raise FormatError("no submit time")
    word, who = state(main["State"])
    pending = word == "PENDING"
    start = None if pending or (start and end and start > end) else start
    if end is not None and end < submit:
        raise FormatError("end before submission")
    identity = job_id(options.cluster, _base(main))
    local = from_epoch(submit)
    document: Document = {
        "dataset": "job",
        "@timestamp": local,
        "cluster": options.cluster,
        "schema.version": SCHEMA_VERSION,
        "event.ingested": from_epoch(time.time()),
        "record.version": stamp + (ENDED if end is not None else 0),
        "job.id": identity,
        "job.local_id": _base(main),
        "job.run": job_run(identity, local),
        "job.state": word,
        "job.cancelled_by": who,
        "job.source": "sacct",
        "job.scheduler": "slurm",
        "provisional": True if end is None else None,
        "job.submit": local,
        "job.eligible": from_epoch(eligible) if eligible else None,
        "job.start": from_epoch(start) if start else None,
        "job.end": from_epoch(end) if end else None,
        **_texts(main),
        **_ids(main),
        **_asked(main),
    }
    if start is not None:
        document |= _used(main, steps, submit, start, end, eligible)
    return {name: value for name, value in document.items() if value is not None}


def _texts(main: Row) -> Document:
    names = {
        "user.name": "User",
        "user.id": "UID",
        "user.group": "Group",
        "job.name": "JobName",
        "project": "Account",
        "partition": "Partition",
        "qos": "QOS",
        "job.reservation": "Reservation",
        "job.reason": "Reason",
        "job.work_dir": "WorkDir",
        "job.comment": "Comment",
        "job.command_line": "SubmitLine",
    }
    limit = LONGEST_KEYWORD
    found = {ours: main.get(theirs, "") for ours, theirs in names.items()}
    return {n: redact(v)[:limit] for n, v in found.items() if v not in ABSENT}


def _ids(main: Row) -> Document:
    shown = main.get("JobID", "").partition(".")[0]
    array, _, task = shown.partition("_")
    het, _, offset = shown.partition("+")
    found: Document = {}
    if task.isdigit():
        found |= {"job.array.id": array, "job.array.task": task}
    if offset.isdigit():
        found |= {"job.het.id": het, "job.het.offset": int(offset)}
    code, _, signal = main.get("ExitCode", "").partition(":")
    if code.isdigit():
        found |= {"job.exit_code": int(code)}
        if signal.isdigit() and signal != "0":
            found["job.exit_signal"] = int(signal)
    return found


def _asked(main: Row) -> Document:
    asked = tres(main.get("ReqTRES", ""))
    cards = gpus(asked)
    limit = main.get("TimelimitRaw", "")
    seconds = float(limit) * 60 if limit.isdigit() else duration(main.get("Timelimit", ""))
    return {
        "job.limit.seconds": seconds,
        "job.asked.cores": _whole(asked.get("cpu") or main.get("ReqCPUS", "")),
        "job.asked.nodes": _whole(asked.get("node", "")),
        "job.asked.gpus": cards[0] if cards else None,
        "job.asked.memory.bytes": size(asked.get("mem", "")),
        "job.priority": _whole(main.get("Priority", "")),
    }


def _used(
    main: Row, steps: list[Row], submit: int, start: int, end: int | None, eligible: int | None
) -> Document:
    suspended = duration(main.get("Suspended", "")) or 0.0
    elapsed = _whole(main.get("ElapsedRaw", ""))
    wall = float(elapsed) if elapsed is not None else (end - start - suspended if end else None)
    if wall is not None and wall < 0:
        raise FormatError("end before start")
    allocated = tres(main.get("AllocTRES", ""))
    cores = _whole(main.get("AllocCPUS", "") or allocated.get("cpu", ""))
    nodes = _whole(main.get("NNodes", "") or main.get("AllocNodes", ""))
    cards = gpus(allocated)
    peak = max((p for p in map(_step_peak, steps) if p is not None), default=None)
    found: Document = {
        "job.cpus": cores,
        "job.cores": cores,
        "job.node.count": nodes,
        "job.gpus": cards[0] if cards else None,
        "gpu.models": list(cards[1]) if cards and cards[1] else None,
        "job.class": _class(cores, nodes),
        "job.wait.seconds": float(start - submit) if start >= submit else None,
        "job.wall.seconds": wall,
        "job.suspended.seconds": suspended or None,
        "job.memory.peak.bytes": peak,
        "job.memory.basis": "step" if peak is not None else None,
        "job.core_seconds.used": duration(main.get("TotalCPU", "")),
        "job.core_seconds.user": duration(main.get("UserCPU", "")),
        "job.core_seconds.system": duration(main.get("SystemCPU", "")),
    }
    if eligible is not None and start >= eligible:
        found["job.wait_eligible.seconds"] = float(start - eligible)
    if wall is not None and cores is not None:
        found["job.core_seconds.allocated"] = wall * cores
    if wall is not None and cards:
        found["job.gpu_seconds.allocated"] = wall * cards[0]
    return found


def _step_peak(step: Row) -> int | None:
    """
    Memory of all of a step's tasks; MaxRSS is the largest task's, the step's only with one.
    """
    total = tres(step.get("TRESUsageInTot", "")).get("mem")
    if total:
        return size(total)
    return size(step.get("MaxRSS", "")) if step.get("NTasks") == "1" else None


def _class(cores: int | None, nodes: int | None) -> str | None:
    if nodes is not None and nodes > 1:
        return "multi-node"
    if cores == 1:
        return "serial"
    return "one-node" if nodes == 1 else None


def _whole(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _slices(job: Document, main: Row, options: Options, until: int) -> list[Document]:
    """
    The run's days. Suspended time is taken off evenly: nobody wrote down when it was.
    """
    start, wall = _seconds(main, "Start", options), job.get("job.wall.seconds")
    if "job.start" not in job or start is None or until <= start or not isinstance(wall, float):
        return []
    scale = min(wall / (until - start), 1.0)
    used = float(str(job.get("job.core_seconds.used", 0.0)))
    found = []
    for day in days(start, until, options.zone):
        seconds = day.seconds * scale
        document: Document = {
            **{name: job[name] for name in SHARED if name in job},
            "dataset": "job_slice",
            "@timestamp": from_epoch(day.begin),
            "local.day": day.day.isoformat(),
            "local.hour": 0,
            "local.weekday": day.day.isoweekday(),
            "wall.seconds": seconds,
            "core_seconds_allocated": seconds * float(str(job.get("job.cores", 0))),
            "core_seconds_used": used * day.seconds / (until - start),
            "hours": {hour: value * scale for hour, value in day.hours.items()},
        }
        if "job.gpus" in job:
            document["gpu_seconds_allocated"] = seconds * float(str(job["job.gpus"]))
        found.append(document)
    return found
