"""
Lists for programs: runs, nodes, findings; the long ones in pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from werkzeug.wrappers import Response

from leadline.errors import FormatError, QuestionError
from leadline.formats.times import EARLIEST, format_time, parse_time
from leadline.query import Filter, Period, Question, parse_filters
from leadline.render import Column, render
from leadline.render.charts import draw_file, draw_png, draw_vega
from leadline.reports.finding import Case
from leadline.reports.findings import COLUMNS as FINDING
from leadline.reports.findings import findings as find
from leadline.reports.findings import rows as finding_rows
from leadline.reports.job import job_view
from leadline.reports.job_picture import job_picture
from leadline.reports.job_table import as_json as job_json
from leadline.reports.job_table import profile_table
from leadline.reports.jobs import COLUMNS as JOB
from leadline.reports.jobs import job_rows
from leadline.reports.nodes import fleet, node_rows
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING
from leadline.web.api.answers import as_csv, as_json, as_vega_lite, cut, listed, sent
from leadline.web.asking import desk
from leadline.web.paging import Piece, Rows, begin, piece, place_of

TICK = timedelta(milliseconds=1)  # the step of written times
MOST_AT_ONCE = 10_000  # runs of one moment that a cursor can count
NODE_NAMES = ("cluster", "node", "state", "reason", "by", "since", "partitions", "cores", "gpus")
NODE = tuple(Column(name, name) for name in (*NODE_NAMES, "availability"))
JOB_CSV = (Column("run", "Run"), *JOB)


@dataclass(frozen=True, slots=True)
class Wanted:
    """
    Which runs somebody looks for: that ended in the period, or run `now`.
    """

    where: str
    period: str
    shortest: int = 0  # minutes
    named: str = ""  # how the name begins; or a number, or a whole id

    @property
    def looked_at(self) -> Question:
        """
        The nodes and the time whose samples a list rests on.
        """
        period = "last 24 hours" if self.period == "now" else self.period
        return Question(where=parse_filters(self.where), period=period)

    def conditions(self) -> tuple[Period | None, list[Condition]]:
        running = self.period == "now"
        asked = Question(where=parse_filters(self.where), period="all" if running else self.period)
        span, found = desk().conditions(asked, "job")
        if self.named:
            found = [*found, _named(self.named)]
        return None if running else span, found


def _named(text: str) -> Condition:
    if text.isdigit():
        return Condition("job.local_id", Op.IN, (text,))
    if "/" in text:
        return Condition("job.id", Op.IN, (text,))
    return Condition("job.name", Op.PREFIX, (text,))


def jobs(
    where: str, period: str, named: str, shortest: str, limit: str, cursor: str, format: str
) -> Response:
    wanted = Wanted(where, period, int(shortest or 0), named)
    piece = runs(wanted, int(limit), cursor)
    return listed(piece, format, JOB_CSV, "jobs", desk().sure(wanted.looked_at))


def runs(wanted: Wanted, limit: int, cursor: str) -> Piece:
    """
    The cursor is the moment the last one ended, or began where they run, and how many of that
    moment were told already: runs that end meanwhile push nothing out of the list, nor into it
    twice.
    """
    span, where = wanted.conditions()
    ranked = "start" if span is None else "end"
    place, told = place_of(cursor, (str, int)), 0
    if place is not None:
        told = int(str(place[1]))
        try:
            behind = parse_time(str(place[0])) + TICK
        except (FormatError, OverflowError):
            raise QuestionError("cursor: not one of ours; take it from `next`") from None
        if not 0 <= told <= MOST_AT_ONCE:
            raise QuestionError(
                f"cursor: more than {MOST_AT_ONCE:,} runs of one moment; narrow them by `where`"
            )
        where.append(Condition(f"job.{ranked}", Op.BELOW, (format_time(behind),)))
    store, most = desk().open(), told + limit + 1
    shortest = 60 * wanted.shortest
    rows = job_rows(store, desk().scope, where, span, shortest=shortest, limit=most, now=desk().now)
    found = rows[told:]
    shown = found[:limit]
    if len(found) <= limit:
        return Piece(shown)
    last = str(shown[-1][ranked])
    same = sum(1 for row in shown if row[ranked] == last)
    before = told if place is not None and place[0] == last else 0
    return Piece(shown, (last, before + same))


def job(job: str, run: str, format: str) -> Response:
    store, seen, now = desk().open(), desk().scope, desk().now
    view = desk().once(
        ("job", job, run or None, seen), lambda: job_view(store, seen, job, now, run=run or None)
    )
    if format == "json":
        return as_json(job_json(view, desk().site.advice))
    if format == "csv":
        return as_csv(render(profile_table([view]), "csv") + "\n", "job.csv")
    picture = job_picture(view, desk().site.zone)
    if picture is None:
        raise QuestionError(f"job {job}: too few samples for a picture")
    if format == "svg":
        return sent(draw_file(picture), "image/svg+xml; charset=utf-8")
    if format == "vega":
        return as_vega_lite(draw_vega(picture), "job.vl.json")
    return sent(draw_png(picture), "image/png")


def nodes(period: str, where: str, limit: str, cursor: str, format: str) -> Response:
    """
    What a node does as a whole is nobody's secret; who wrote the reason is told to the staff.
    """
    asked = Question(where=parse_filters(where), period=period)
    span, conditions = desk().conditions(asked, "node_state")
    start, end = bounds(span)
    staff = desk().scope.everything
    seen = desk().scope if desk().scope.totals_only else EVERYTHING
    found: Rows = desk().once(
        ("nodes", str(asked), start, end, seen),
        lambda: node_rows(fleet(desk().open(), seen, start, end, tuple(conditions))),
    )
    told = found if staff else [{**row, "by": None} for row in found]
    return listed(cut(told, ("cluster", "node"), int(limit), cursor), format, NODE, "nodes")


def findings(
    period: str, kind: str, cluster: str, limit: str, cursor: str, format: str
) -> Response:
    first = begin(cursor)
    start, end = bounds(desk().period(period))
    seen, kinds = desk().scope, tuple(part.strip() for part in kind.split(",") if part.strip())
    where = (Condition("cluster", Op.IN, (cluster,)),) if cluster else ()
    case = Case(desk().open(), seen, start, end, desk().now, where, desk().site.findings)
    found = desk().once(
        ("findings", kinds, cluster, start, end, seen), lambda: finding_rows(find(case, kinds))
    )
    named = (Filter("cluster", (cluster,)),) if cluster else ()
    sure = desk().sure(Question(where=named, period=period))
    return listed(piece(found, first, int(limit)), format, FINDING, "findings", sure)


def bounds(span: Period) -> tuple[datetime, datetime]:
    now = desk().now
    return max(span.start or EARLIEST, EARLIEST), min(span.end or now, now)
