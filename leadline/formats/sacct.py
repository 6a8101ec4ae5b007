"""
sacct's columns as fields: what each of its words means, once, for who asks it and who reads a dump.

A row is text by column name; what was not asked for is absent. Steps complete their job's row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from leadline.errors import FormatError
from leadline.formats import Document, Type
from leadline.formats.gres import by_model, parse_gres, total
from leadline.formats.redact import redact
from leadline.formats.validate import LONGEST

Row = Mapping[str, str]

CUT = "\x1f"  # a separator that no name holds
COLUMNS = (
    "JobIDRaw", "JobID", "User", "UID", "Group", "Account", "Partition", "QOS", "State",
    "ExitCode", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw",
    "UserCPU", "SystemCPU", "TotalCPU", "AllocCPUS", "ReqCPUS", "NNodes", "NTasks", "NodeList",
    "ReqMem", "MaxRSS", "TRESUsageInTot", "TRESUsageOutTot", "AllocTRES", "ReqTRES",
    "ConsumedEnergyRaw", "Priority", "Reservation", "Reason", "WorkDir", "SubmitLine", "JobName",
)  # fmt: skip
# Of all tasks of a job the one that took most: how much, on which node, which task.
LARGEST = (
    ("MaxRSS", "MaxRSSNode", "MaxRSSTask"),
    ("MaxDiskRead", "MaxDiskReadNode", "MaxDiskReadTask"),
    ("MaxDiskWrite", "MaxDiskWriteNode", "MaxDiskWriteTask"),
)
TEXTS = {
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
ABSENT = frozenset({"", "Unknown", "None", "N/A", "n/a", "NONE", "(null)", "None assigned"})
EARLIEST = 631152000  # 1990: nothing of ours is older,
LATEST = 4102444800  # or from after 2100
MOST_MEMORY = 1 << 50  # 2^64 - 1 is sacct's word for not known
_DURATION = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def instant(text: str, zone: ZoneInfo) -> int | None:
    """
    Seconds since 1970; times without a zone are the cluster's own.
    """
    if text in ABSENT:
        return None
    if text.isdecimal():
        seconds = int(text)
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise FormatError(f"not a time: {text[:40]!r}") from None
        seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp())
    if not EARLIEST <= seconds < LATEST:
        raise FormatError(f"time outside 1990-2100: {text[:40]!r}")
    return seconds


def duration(text: str) -> float | None:
    """
    [days-][[hours:]minutes:]seconds[.fraction]: 45:21.005 is 2721.005 seconds.
    """
    if text in ABSENT or text in ("UNLIMITED", "Partition_Limit", "INVALID"):
        return None
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise FormatError(f"not a duration: {text[:40]!r}")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def size(text: str) -> int | None:
    """
    Bytes of 317032K or 384G; a plain number is bytes.
    """
    if text in ABSENT:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        raise FormatError(f"not a size: {text[:40]!r}")
    return int(float(match[1]) * 1024 ** _POWERS[match[2]])


def measured(text: str) -> int | None:
    """
    Bytes; None for what was not measured: a step killed at once has 0, or `16?` for 2^64 - 1.
    """
    try:
        amount = size(text)
    except FormatError:
        return None
    return amount if amount and amount < MOST_MEMORY else None


def whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def tres(text: str) -> dict[str, str]:
    """
    cpu=4,mem=16G,gres/gpu=2,gres/gpu:a100=2 by name.
    """
    pairs = (item.partition("=") for item in text.split(",") if "=" in item)
    return {name: value for name, _, value in pairs}


def gpus(text: str) -> tuple[int | None, list[str]]:
    """
    How many cards and of which models: a total and its parts are not added together.
    """
    if "gres/gpu" not in text:
        return None, []
    entries = parse_gres(text)
    return total(entries), sorted(name for name in by_model(entries) if name != "unknown")


def state(text: str) -> tuple[str, str | None]:
    """
    CANCELLED by 2101037: the state, and who did it.
    """
    word, _, who = text.partition(" by ")
    return word.strip(), who.strip() or None


def texts(row: Row) -> Document:
    """
    What people wrote, secrets taken out, cut where the fields end.
    """
    found = {ours: row.get(theirs, "").strip() for ours, theirs in TEXTS.items()}
    limits = {"job.command_line": LONGEST[Type.COMMAND]}
    short = LONGEST[Type.KEYWORD]
    return {n: redact(v)[: limits.get(n, short)] for n, v in found.items() if v not in ABSENT}


def place(row: Row) -> Document:
    """
    `4_3` is task 3 of array 4, `19+1` part 1 of the heterogeneous job 19.
    """
    shown = row.get("JobID", "").partition(".")[0]
    array, _, task = shown.partition("_")
    het, _, offset = shown.partition("+")
    if task.isdecimal():
        return {"job.array.id": array, "job.array.task": task}
    if offset.isdecimal():
        return {"job.het.id": het, "job.het.offset": int(offset)}
    return {}


def exit_of(row: Row) -> Document:
    code, _, signal = row.get("ExitCode", "").partition(":")
    if not code.isdecimal():
        return {}
    found: Document = {"job.exit_code": int(code)}
    if signal.isdecimal() and signal != "0":
        found["job.exit_signal"] = int(signal)
    return found


def memory_peak(steps: Iterable[Row]) -> tuple[int | None, str | None]:
    """
    The total over the tasks of the largest step. MaxRSS is the largest task only: it stands in
    where there is one task.
    """
    found: list[tuple[int, str]] = []
    for step in steps:
        value, basis = tres(step.get("TRESUsageInTot", "")).get("mem"), "step"
        if value is None and step.get("NTasks") == "1":
            value, basis = step.get("MaxRSS"), "task"
        if (amount := measured(value or "")) is not None:
            found.append((amount, basis))
    return max(found, default=(None, None))


def asked_memory(row: Row) -> int | None:
    """
    200M for the whole run; older versions write 4Gc and 4Gn: per core, per node.
    """
    if amount := measured(tres(row.get("ReqTRES", "")).get("mem", "")):
        return amount
    text = row.get("ReqMem", "")
    per = text[-1:] if text[-1:] in ("c", "n") else ""
    times = row.get({"c": "ReqCPUS", "n": "NNodes"}.get(per, ""), "1")
    amount = measured(text.removesuffix(per))
    return amount * int(times if times.isdecimal() else 1) or None if amount else None


def moved(steps: Iterable[Row]) -> Document:
    """
    Bytes read and written by all tasks of all steps.
    """
    found: dict[str, Any] = {}
    for step in steps:
        for name, column, average in (
            ("job.io.read.bytes", "TRESUsageInTot", "AveDiskRead"),
            ("job.io.write.bytes", "TRESUsageOutTot", "AveDiskWrite"),
        ):
            amount = measured(tres(step.get(column, "")).get("fs/disk", ""))
            if amount is None and (one := measured(step.get(average, ""))):
                amount = one * (whole(step.get("NTasks", "")) or 1)
            if amount is not None:
                found[name] = found.get(name, 0) + amount
    return found


def largest_tasks(steps: Iterable[Row]) -> dict[str, object]:
    """
    The task that took most memory, read or wrote most: how much, on which node, which it was.
    """
    found: dict[str, object] = {}
    members = list(steps)
    for amount, node, task in LARGEST:
        best = max(members, key=lambda step: measured(step.get(amount, "")) or 0, default={})
        most = measured(best.get(amount, ""))
        if most is None or not best.get(node):
            continue
        key = "sacct." + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", amount).lower()
        found |= {f"{key}.bytes": most, f"{key}.node": best[node]}
        if best.get(task):
            found[f"{key}.task"] = best[task]
    return found
