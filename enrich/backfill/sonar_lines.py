"""
A line of Sonar's older formats as one process of one snapshot, under the names of the tagged CSV.
"""

from __future__ import annotations

import csv
import re

from enrich.backfill.sonar_samples import Sample, number
from leadline.errors import FormatError

UNTAGGED = ("time", "host", "cores", "user", "job", "cmd", "cpu%", "cpukib")
CARDS = ("gpumask", "gpu%", "gpumem%", "gpukib", "cputime_sec")
TABLE = ("time", "host", "cores", "user", "cmd", "cpu%", "mib", "project", "job", "cpus", "min")
WIDTHS = (8, 12, 13)
TIME = re.compile(r"\d{4}-\d\d-\d\dT")
KIB = 1024


def fields_of(text: str) -> dict[str, str]:
    """
    The fields by name, whichever of the three line formats it is.
    """
    if "\t" in text:
        cells = text.rstrip("\r").split("\t")
        if len(cells) != len(TABLE):
            raise FormatError(f"{len(cells)} columns; a table of Sonar has {len(TABLE)}")
        found = {n: v for n, v in zip(TABLE, cells, strict=True) if v != "-"}
        return {**found, "table": "1"}
    try:
        cells = next(csv.reader([text.rstrip("\r")], strict=True), [])
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}") from None
    if cells and TIME.match(cells[0]):
        if len(cells) not in WIDTHS:
            raise FormatError(f"{len(cells)} columns; untagged lines have 8, 12 or 13")
        return dict(zip((*UNTAGGED, *CARDS), cells, strict=False))
    pairs = [cell.partition("=") for cell in cells]
    if not cells or not all(sign for _, sign, _ in pairs):
        raise FormatError("no line of Sonar's: neither name=value fields nor its columns")
    return {name: value for name, _, value in pairs}


def sample_of(fields: dict[str, str]) -> Sample:
    """
    Zero fields are left out of tagged lines; unknown ones are ignored.
    """
    if not fields.get("time") or not fields.get("host"):
        raise FormatError("time or host: missing")
    memory = _times(fields, "mib", KIB * KIB)
    has_time = "cputime_sec" in fields or "v" in fields
    return Sample(
        time=fields["time"],
        host=fields["host"],
        user=fields.get("user", ""),
        command=fields.get("cmd", ""),
        pid=_whole(fields, "pid"),
        parent=_whole(fields, "ppid"),
        job=_whole(fields, "job") or 0,
        epoch=_whole(fields, "epoch") or 0,
        average=number("cpu%", fields.get("cpu%", "0")),
        cpu_time=number("cputime_sec", fields.get("cputime_sec", "0")) if has_time else None,
        resident=memory if "mib" in fields else _times(fields, "rssanonkib", KIB),
        virtual=_times(fields, "cpukib", KIB),
        merged=_whole(fields, "rolledup") or 0,
        cards=_cards(fields),
        gpu_percent=number("gpu%", fields["gpu%"]) if fields.get("gpu%") else None,
        gpu_memory=_times(fields, "gpukib", KIB),
        project=fields.get("project"),
    )


def _cards(fields: dict[str, str]) -> int | None:
    """
    How many: of a list `3,0,1`, or of the ones in a bit string.
    """
    if "gpumask" in fields:
        return fields["gpumask"].count("1")
    text = fields.get("gpus", "none")
    return None if text in ("none", "unknown", "") else len(text.split(","))


def _whole(fields: dict[str, str], name: str) -> int | None:
    return int(number(name, fields[name])) if fields.get(name) else None


def _times(fields: dict[str, str], name: str, unit: int) -> int | None:
    return int(number(name, fields[name]) * unit) if fields.get(name) else None
