"""
The runs in a table of Grid Engine's records, as SELECTs of `job` and `job_slice` documents.

A SELECT can be asked for a span of time: then the records are cut before anything is made of
them, so that each month's file costs what its own rows cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from enrich.backfill import sge_sql as sql
from enrich.backfill.sge_zone import offset

DAY = 26 * 3600  # more than any day is long
OF_MASTER = """s.job_number = m.job_number AND s.task_number = m.task_number
  AND s.owner = m.owner AND s.start_time BETWEEN m.start_time - 5 AND m.end_time + 5"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    cluster: str
    zone: ZoneInfo
    table: str
    where: str  # which of its records are masters
    first: int  # no submission, start or end is before,
    last: int  # none after
    with_slaves: bool
    now: str

    def jobs(self, first: datetime | None = None, end: datetime | None = None) -> str:
        wanted = self.where
        if first and end:
            wanted += f" AND submitted >= {_seconds(first)} AND submitted < {_seconds(end)}"
        return sql.jobs(self.cluster, self._runs(wanted), self.now)

    def slices(self, first: datetime | None = None, end: datetime | None = None) -> str:
        wanted, days = self.where, "true"
        if first and end:
            since, until = _seconds(first), _seconds(end)
            wanted += f" AND start_time < {until + DAY} AND end_time > {since - DAY}"
            days = f"day_start >= {since} AND day_start < {until}"
        return sql.slices(
            self.cluster, self._runs(wanted), self.zone, self.first, self.last, self.now, days
        )

    def merged(self) -> str:
        """
        The slaves that are part of one of these runs.
        """
        return (
            f"SELECT s.rowid FROM slaves s SEMI JOIN {self._masters(self.where)} m ON {OF_MASTER}"
        )

    def _masters(self, wanted: str) -> str:
        return f"(SELECT *, rowid AS place FROM {self.table} WHERE {wanted})"

    def _runs(self, wanted: str) -> str:
        """
        One row for each run: the master's record, its slaves' usage and hosts added to it.
        """
        members = f"SELECT *, [hostname] AS hosts FROM {self._masters(wanted)}"
        if self.with_slaves:
            members = _with_slaves(self._masters(wanted))
        return f"""(
SELECT *, CASE WHEN start_time > 0 THEN end_time - start_time END AS wall,
  submitted + {offset("submitted", self.zone, self.first, self.last)} AS local_submit
FROM ({members}))"""


def _with_slaves(masters: str) -> str:
    """
    A run's slaves ran within it, under the same number and task.
    """
    return f"""
SELECT m.* REPLACE (m.cpu + coalesce(s.cpu, 0) AS cpu, m.mem + coalesce(s.mem, 0) AS mem,
    m.io + coalesce(s.io, 0) AS io, m.ru_utime + coalesce(s.utime, 0) AS ru_utime,
    m.ru_stime + coalesce(s.stime, 0) AS ru_stime,
    greatest(m.maxvmem, s.maxvmem) AS maxvmem),
  list_sort(list_distinct(list_append(coalesce(s.hosts, []), m.hostname))) AS hosts
FROM {masters} m LEFT JOIN (
  SELECT m.place, sum(s.cpu) AS cpu, sum(s.mem) AS mem, sum(s.io) AS io,
    sum(s.ru_utime) AS utime, sum(s.ru_stime) AS stime, max(s.maxvmem) AS maxvmem,
    list(DISTINCT s.hostname) AS hosts
  FROM slaves s JOIN {masters} m ON {OF_MASTER} GROUP BY m.place) s ON s.place = m.place"""


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())
