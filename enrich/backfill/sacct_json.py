"""
`sacct --json` as the rows `sacct -P` prints: one way to read a job, whichever was dumped.

Slurm 22.05 writes plain values, newer ones lists of flags and {"set", "infinite", "number"}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from enrich.backfill.files import Source
from leadline.errors import FormatError
from leadline.formats.sacct import Row

SLICE = 32 << 20
LARGEST = 4 << 30  # bytes: one JSON document can only be read whole
MEBI = 1 << 20
Object = dict[str, object]


def is_dump(head: bytes) -> bool:
    """
    Whether a file that begins with HEAD is a dump of jobs: its `meta` comes first or its `jobs`.
    """
    if not head.lstrip().startswith(b"{"):
        return False
    slurm = re.search(rb'"(?:[Ss]lurm|plugin)"\s*:', head) and b'"meta"' in head
    return bool(slurm) or re.match(rb'\s*\{\s*"jobs"\s*:\s*\[', head) is not None


def jobs_of(source: Source) -> Iterator[tuple[bytes, list[Row] | str]]:
    """
    Each job of the dump as its row and its steps' rows, or why it is none.
    """
    data = bytearray()
    for piece in source.slices(0, SLICE):
        data += piece.data
        if len(data) > LARGEST:
            raise FormatError("a JSON dump of more than 4 GiB; ask sacct for it in parts (-S, -E)")
    try:
        dump = orjson.loads(data)
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"not JSON: {str(error)[:120]}") from None
    jobs = dump.get("jobs") if isinstance(dump, dict) else None
    if not isinstance(jobs, list):
        raise FormatError("no list of jobs in it; use sacct -a -D -S … --json")
    for job in jobs:
        raw = orjson.dumps(job)
        try:
            if not isinstance(job, dict):
                raise FormatError("a job that is no object")
            steps = [step for step in _list(job.get("steps")) if isinstance(step, dict)]
            rows = [_job(job, steps), *(_step(step) for step in steps)]
        except (FormatError, ValueError, OverflowError) as error:
            yield raw, str(error)
        else:
            yield raw, rows


def _job(job: Object, steps: list[Object]) -> Row:
    time, number = _object(job, "time"), _number(job.get("job_id"))
    if number is None:
        raise FormatError("job_id: missing")
    state, required = _object(job, "state"), _object(job, "required")
    asked = _tres(_object(job, "tres").get("requested"))
    allocated = _tres(_object(job, "tres").get("allocated"))
    word = _word(state.get("current"))
    killer = _text(job.get("kill_request_user"))
    start = _number(time.get("start"))
    row = {
        "JobIDRaw": str(number),
        "JobID": _shown(job, number),
        "JobName": _text(job.get("name")),
        "User": _text(job.get("user")) or _text(_object(job, "association").get("user")),
        "Group": _text(job.get("group")),
        "Account": _text(job.get("account")),
        "Partition": _text(job.get("partition")),
        "QOS": _text(job.get("qos")),
        "State": f"{word} by {killer}" if word == "CANCELLED" and killer else word,
        "Reason": _text(state.get("reason")),
        "ExitCode": _exit(_object(job, "exit_code"), word),
        "Submit": _moment(time.get("submission")),
        "Eligible": _moment(time.get("eligible")),
        "Start": _moment(start),
        "End": _moment(time.get("end")),
        "ElapsedRaw": _written(time.get("elapsed")),
        "Suspended": _written(time.get("suspended")),
        "TimelimitRaw": _written(time.get("limit")),
        **{name: _cpu([job, *steps], theirs) for name, theirs in CPU.items()},
        "AllocCPUS": allocated.get("cpu", "0"),
        "NNodes": allocated.get("node") or _written(job.get("allocation_nodes")),
        "ReqCPUS": _written(required.get("CPUs")),
        "AllocTRES": _joined(allocated),
        "ReqTRES": _joined(asked),
        "Priority": _written(job.get("priority")),
        "Reservation": _text(_object(job, "reservation").get("name")),
        "WorkDir": _text(job.get("working_directory")),
        "SubmitLine": _text(job.get("submit_line")),
        "Comment": _text(_object(job, "comment").get("job")),
        "NodeList": _text(job.get("nodes")),
    }
    return {name: value for name, value in row.items() if value}


CPU = {"TotalCPU": "total", "UserCPU": "user", "SystemCPU": "system"}


def _step(step: Object) -> dict[str, str]:
    taken, given = (_object(_object(step, "tres"), way) for way in ("requested", "consumed"))
    tasks = _written(_object(step, "tasks").get("count"))
    row = {
        "State": _word(step.get("state")),
        "NTasks": tasks,
        "TRESUsageInTot": _joined(_tres(taken.get("total"), memory=1)),
        "TRESUsageOutTot": _joined(_tres(given.get("total"), memory=1)),
    }
    for column, items, name in (
        ("MaxRSS", taken.get("max"), "mem"),
        ("MaxDiskRead", taken.get("max"), "fs/disk"),
        ("MaxDiskWrite", given.get("max"), "fs/disk"),
    ):
        row |= _largest(column, items, name)
    return row


def _largest(column: str, items: object, wanted: str) -> dict[str, str]:
    """
    What the task that took most took, and where.
    """
    for item in _list(items):
        if isinstance(item, dict) and wanted in (amounts := _tres([item], memory=1)):
            found = {column: amounts[wanted], f"{column}Node": _text(item.get("node"))}
            return found | {f"{column}Task": _written(item.get("task"))}
    return {}


def _shown(job: Object, number: int) -> str:
    """
    4_1 for a task of an array, 19+1 for a part of a heterogeneous job.
    """
    array, het = _object(job, "array"), _object(job, "het")
    task, offset = _number(array.get("task_id")), _number(het.get("job_offset"))
    if _number(array.get("job_id")) and task is not None:
        return f"{_number(array.get('job_id'))}_{task}"
    if _number(het.get("job_id")) and offset is not None:
        return f"{_number(het.get('job_id'))}+{offset}"
    return str(number)


def _exit(code: Object, state: str) -> str:
    """
    0 of a job that did not complete is no code: 22.05 writes it for 1 as well.
    """
    signal = _object(code, "signal")
    number = _number(signal.get("signal_id", signal.get("id")))
    returned = _number(code.get("return_code"))
    if state != "COMPLETED" and not returned and not number:
        return ""
    return f"{returned or 0}:{number or 0}"


def _tres(items: object, *, memory: int = MEBI) -> dict[str, str]:
    """
    Counts by name; memory in bytes (what was used is written in them, what was given in MiB).
    """
    found = {}
    for item in _list(items):
        count = _number(item.get("count")) if isinstance(item, dict) else None
        if isinstance(item, dict) and count is not None:
            kind, name = _text(item.get("type")), _text(item.get("name"))
            full = f"{kind}/{name}" if name else kind
            found[full] = str(count * memory if full == "mem" else count)
    return found


def _joined(tres: dict[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in tres.items())


def _cpu(parts: list[Object], name: str) -> str:
    """
    Seconds of the job, the first of PARTS; 22.05 writes 0 there, and only its steps' are true.
    """
    found = [_seconds(_object(part, "time").get(name)) for part in parts]
    return (
        f"{found[0] or sum(value for value in found[1:] if value):.6f}"
        if any(f is not None for f in found)
        else ""
    )


def _seconds(value: object) -> float | None:
    if not isinstance(value, dict):
        return _number(value)
    seconds, micro = _number(value.get("seconds")), _number(value.get("microseconds"))
    return None if seconds is None else seconds + (micro or 0) / 1e6


def _moment(value: object) -> str:
    return str(_number(value) or "")


def _written(value: object) -> str:
    number = _number(value)
    return "" if number is None else str(number)


def _number(value: object) -> int | None:
    """
    5, or {"set": true, "infinite": false, "number": 5}.
    """
    if isinstance(value, dict):
        known = value.get("set", True) is True and value.get("infinite", False) is False
        value = value.get("number") if known else None
    if value is None or isinstance(value, str):
        return int(value) if value and value.isdecimal() else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{str(value)[:40]!r} is not a number")
    if value < 0:
        raise FormatError(f"{value} is negative")
    return int(value)


def _word(value: object) -> str:
    """
    A state: a word, or a list that begins with it and goes on with flags.
    """
    found = _list(value)[0] if isinstance(value, list) and value else value
    return _text(found)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(parent: Object, name: str) -> Object:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
