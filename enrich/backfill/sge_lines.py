"""
Lines of a Grid Engine accounting file that are not simply 45 fields: what they say, or why not.

SGE and SoGE write 45 fields, OGE 6.2 43, Univa and Altair more of them and milliseconds. Nothing
is escaped, so a colon in a job's name, account or category makes a field more; such a line is
mended when there is exactly one way to read it, and refused with its reason when not.
"""

from __future__ import annotations

import re

from leadline.errors import FormatError

NAMES = (
    *("qname", "hostname", "grp", "owner", "job_name", "job_number", "account", "priority"),
    *("submission_time", "start_time", "end_time", "failed", "exit_status", "ru_wallclock"),
    *("ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss"),
    *("ru_minflt", "ru_majflt", "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd"),
    *("ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw", "project", "department"),
    *("granted_pe", "slots", "task_number", "cpu", "mem", "io", "category", "iow"),
    *("pe_taskid", "maxvmem", "arid", "ar_sub_time"),
)
FIELDS = len(NAMES)
OLD = 43  # OGE 6.2 and before: no advance reservations
FREE = tuple(map(NAMES.index, ("job_name", "account", "category")))
TEXTS = {
    *FREE,
    *map(NAMES.index, ("qname", "hostname", "grp", "owner", "project", "department")),
    *map(NAMES.index, ("granted_pe", "pe_taskid")),
}
TIMES = ("submission_time", "start_time", "end_time")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|-?inf|-?nan")
_WHOLE = re.compile(r"-?\d+")
_WHOLES = tuple(
    map(NAMES.index, ("job_number", *TIMES, "failed", "exit_status", "slots", "task_number"))
)


def read_record(line: bytes) -> list[str] | None:
    """
    The 45 fields of a record; None for a comment or an empty line. Raises FormatError.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("latin-1")
    text = text.rstrip("\r\n")
    if not text.strip() or text.startswith("#"):
        return None
    if "\0" in text:
        raise FormatError("NUL bytes in the line")
    fields = text.split(":")
    if len(fields) < OLD:
        raise FormatError(f"{len(fields)} fields, an accounting record has {OLD} or more")
    readings = list(_readings(fields))
    if not readings:
        raise FormatError(f"{len(fields)} fields, and numbers are not where they should be")
    if len(readings) > 1:
        raise FormatError("colons in names: more than one way to read the line")
    return readings[0]


def _readings(fields: list[str]) -> list[list[str]]:
    """
    The ways to read a line; plainly, if that is one of them.
    """
    if len(fields) == OLD + 1 and _fits([*fields[:OLD], "0", "0"]):
        return [[*fields[:OLD], "0", "0"]]
    plain = fields[:FIELDS] if len(fields) >= FIELDS else [*fields, "0", "0"]
    if len(plain) == FIELDS and _fits(plain):
        return [plain]
    found: list[list[str]] = []
    for total in (FIELDS, OLD):
        if found:  # nobody mixes generations within a line: the newer one's reading it is
            break
        extra = len(fields) - total
        if extra <= 0:
            continue
        for place in FREE:
            merged = [
                *fields[:place],
                ":".join(fields[place : place + extra + 1]),
                *fields[place + extra + 1 :],
            ]
            if total == OLD:
                merged += ["0", "0"]
            if _fits(merged) and merged not in found:
                found.append(merged)
    return found


def _fits(fields: list[str]) -> bool:
    return all(
        place in TEXTS or bool(_NUMBER.fullmatch(value)) for place, value in enumerate(fields)
    ) and all(_WHOLE.fullmatch(fields[place]) for place in _WHOLES)
