"""
Slurm's jobs as Sonar recorded them, as the rows of `sacct`: the newest record of each step holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import orjson

from enrich.backfill.options import Options
from enrich.backfill.sacct_documents import document_of, seconds_of
from enrich.backfill.sonar_json import Object, num, obj, objs, text
from enrich.run_days import run_days
from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.sacct import Row
from leadline.formats.times import epoch_seconds

KIB = 1024
TEXTS = {
    "job_name": "JobName",
    "job_state": "State",  # with sacct's tail: CANCELLED by 17
    "user_name": "User",
    "account": "Account",
    "partition": "Partition",
    "reservation": "Reservation",
    "submit_time": "Submit",
    "start_time": "Start",
    "end_time": "End",
    "requested_resources": "ReqTRES",
    "allocated_resources": "AllocTRES",
}
TIMES = ("Submit", "Start", "End")
Key = tuple[str, str]


class Jobs:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._rows: dict[Key, tuple[int, Row]] = {}

    def add_message(self, body: Object) -> None:
        at = epoch_seconds(text(body, "time"))
        told = datetime.fromisoformat(text(body, "time"))
        for record in objs(body, "slurm_jobs"):
            row = _row(record)
            for name in TIMES:
                if name in row:
                    row[name] = true_time(row[name], told, self._options.zone)
            self._add(at, str(int(num(record, "job_id"))), text(record, "job_step"), row)

    def add_row(self, fields: dict[str, str]) -> None:
        """
        A tagged line with sacct's own names.
        """
        name = fields.get("JobIDRaw") or fields["JobID"]
        job, _, step = name.partition(".")
        self._add(0, job, step, {**fields, "JobIDRaw": job})

    def take(self) -> Iterator[tuple[bytes, Document | str]]:
        """
        Each job and its days, or why it is none.
        """
        rows, self._rows = self._rows, {}
        steps: dict[str, list[Row]] = {}
        for (job, step), (_, row) in rows.items():
            if step:
                steps.setdefault(job, []).append(row)
        for (job, step), (at, row) in rows.items():
            if step and (job, "") in rows:
                continue
            raw = orjson.dumps(row)
            try:
                if step:
                    raise FormatError("a step without its job")
                yield from ((raw, found) for found in self._job(row, steps.get(job, []), at))
            except (FormatError, ValueError, OverflowError) as error:
                yield raw, str(error)

    def _job(self, row: Row, steps: list[Row], at: int) -> list[Document]:
        end = seconds_of(row, "End", self._options)
        document = document_of(row, steps, self._options, at or end or 0)
        document["job.source"] = "sonar"
        if not document.get("job.core_seconds.used"):
            for name in ("used", "user", "system"):  # Sonar loses seconds, so that 0 is no figure
                document.pop(f"job.core_seconds.{name}", None)
        return [*run_days(document, self._options.days, end or at), document]

    def _add(self, at: int, job: str, step: str, row: Row) -> None:
        known = self._rows.get((job, step))
        if known is None or known[0] <= at:
            self._rows[job, step] = (at, row)


def true_time(written: str, told: datetime, zone: ZoneInfo) -> str:
    """
    WRITTEN is sacct's local time with the offset of the day it was TOLD. Where the clocks were
    changed in between, it is the zone's offset of its own day that holds.
    """
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return written  # refused by who reads it
    if moment.utcoffset() is None or told.utcoffset() != told.astimezone(zone).utcoffset():
        return written  # not a clock of this zone
    local = moment.replace(tzinfo=zone)
    late = moment.utcoffset() == told.utcoffset() != local.utcoffset()
    return local.isoformat() if late else written


def _row(record: Object) -> dict[str, str]:
    sacct = obj(record, "sacct")
    number = str(int(num(record, "job_id")))
    row = {theirs: text(record, ours) for ours, theirs in TEXTS.items()}
    limit = int(num(record, "time_limit"))  # seconds and two: 0 is unset, 1 is infinite
    priority = int(num(record, "priority"))
    tasks, parts = int(num(record, "array_job_id")), int(num(record, "het_job_id"))
    shown = f"{tasks}_{int(num(record, 'array_task_id'))}" if tasks else number
    cpu = num(sacct, "UserCPU") + num(sacct, "SystemCPU")
    peak = int(num(sacct, "MaxRSS") * KIB)
    nodes = record.get("nodes")
    row |= {
        "JobIDRaw": number,
        "JobID": f"{parts}+{int(num(record, 'het_job_offset'))}" if parts else shown,
        "AllocTRES": text(sacct, "AllocTRES") or row["AllocTRES"],
        "ReqCPUS": str(int(num(record, "requested_cpus"))),
        "ElapsedRaw": str(int(num(sacct, "ElapsedRaw"))) if sacct else "",
        "Timelimit": f"{limit - 2}" if limit >= 2 else "",
        "Priority": str(priority - 2) if priority >= 2 else "",
        "Suspended": str(int(num(record, "suspend_time"))),
        "ExitCode": f"{int(num(record, 'exit_code'))}:0",
        "TotalCPU": f"{cpu:.6f}",
        "NNodes": str(int(num(record, "requested_node_count")) or ""),
        "TRESUsageInTot": f"mem={peak}" if peak else "",
        "NodeList": ",".join(str(node) for node in nodes) if isinstance(nodes, list) else "",
    }
    return {name: value for name, value in row.items() if value}
