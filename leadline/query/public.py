"""
Answers for everybody: totals without names, no figure of fewer than some users, and nothing that
could be worked out from two of them.

Leaving small cells out is not enough: what is shown is subtracted from the total, one table from
another, today's from yesterday's. So the public is asked little: whole months that are over, by one
dimension of those that do not lie within each other, no filter, no time inside the month, measures
that are sums or counts. And whenever a row is left out, the one with the fewest users of those that
could be shown is left out with it, whatever is asked, so that the others hold enough users too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from leadline.errors import NotAllowedError
from leadline.query.answer import Answer, Values, ask
from leadline.query.compile import Source, canonical, sources
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure, counted
from leadline.query.measures import measure
from leadline.query.parts import Key
from leadline.query.periods import Period, parse_period
from leadline.query.question import Question
from leadline.query.rollups import complete_until
from leadline.query.tables import Asker
from leadline.settings.zones import local_zone
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Function, Row
from leadline.store.scope import Scope

# None of them is finer or coarser than another, so that no table tells a cell of another.
DIMENSIONS = (
    "program",
    "cluster",
    "state",
    "size",
    "wait_class",
    "run_time_class",
    "hour_of_day",
    "weekday",
)
PERIOD = "previous month"  # what is meant where nothing is said
TOLD = (Function.SUM, Function.COUNT, Function.DISTINCT)  # the greatest of all is somebody's
USERS = Aggregate("users", Function.DISTINCT, "user.name")
NOTE = "rows of fewer than {least} users are among the others"


def ask_public(
    question: Question,
    store: Store,
    scope: Scope,
    now: datetime,
    *,
    zone: ZoneInfo | None = None,
    own: Mapping[str, ZoneInfo] | None = None,
    named: Mapping[str, str] | None = None,
) -> Answer:
    known = canonical(question)
    zone = zone or local_zone()
    period = parse_period(known.period, now, zone, named, own)
    refuse(known, period, now)
    inner = replace(scope, least=0)
    whole = ask(replace(known, top=None), store, inner, now, zone=zone, own=own, named=named)
    until = complete_until(store)
    found = sources(known, period, store, inner, rolled=until is not None)
    asker = Asker(store, inner, period, until)
    counts = _users(known, found, asker)
    everybody = min(_everybody(source, asker) for source in found)
    return withheld(whole, known, counts, everybody, scope.least)


def refuse(asked: Question, period: Period, now: datetime) -> None:
    """
    What the public may not ask, with what it may.
    """
    if asked.where:
        raise NotAllowedError("everybody sees whole totals: no filter; sign in to ask for parts")
    if asked.bucket or len(asked.by) > 1:
        raise NotAllowedError("everybody sees one table at a time: by one dimension, no time")
    for name in asked.by:
        if name not in DIMENSIONS:
            raise NotAllowedError(f"by {name} is not for everybody; by {', '.join(DIMENSIONS)} is")
    if period.unit != "month" or period.end is None or period.end > now:
        raise NotAllowedError(f"everybody sees whole months that are over, such as `{PERIOD}`")
    for name in asked.measures:
        if not all(part.function in TOLD for part in _parts(measure(name))):
            raise NotAllowedError(f"{name} may be one person's; sums and counts are for everybody")


def _parts(asked: Measure) -> Sequence[Aggregate]:
    return [part for name in asked.of for part in _parts(measure(name))] or asked.parts


def _users(asked: Question, found: Sequence[Source], asker: Asker) -> dict[Key, float]:
    """
    Users behind each row; of several sources the fewest.
    """
    dims = [dimension(name) for name in asked.by]
    counts: dict[Key, float] = {}
    for source in found:
        if "user.name" not in _fields(source):
            continue
        table = asker.table(_counting(source), dims, None)
        for key, parts in table.items():
            users = counted(parts["users"]) or 0
            counts[key] = min(users, counts.get(key, users))
    return counts


def _everybody(source: Source, asker: Asker) -> float:
    if "user.name" not in _fields(source):
        return float("inf")  # nodes as wholes: nobody stands behind them
    return counted(asker.table(_counting(source), (), None).get((), {}).get("users")) or 0


def _fields(source: Source) -> Sequence[str]:
    from leadline.formats import DATASETS

    return list(DATASETS[source.plan.dataset].by_name)


def _counting(source: Source) -> Source:
    return replace(source, plan=replace(source.plan, aggregates=(USERS,)))


def hidden(counts: Mapping[Key, float], keys: Sequence[Key], least: int) -> set[Key]:
    """
    Rows of too few users, and with them the smallest of the others, so that they cannot be worked
    out from the total. It goes by users and names alone: another measure hides the same rows.
    """
    few = {key for key in keys if counts.get(key, 0) < least}
    rest = [key for key in keys if key not in few]
    if few and rest:
        few.add(min(rest, key=lambda key: (counts[key], str(key))))
    return few


def withheld(
    whole: Answer, asked: Question, counts: Mapping[Key, float], everybody: float, least: int
) -> Answer:
    """
    The answer without what may not be told; nothing at all where all users together are too few.
    """
    if everybody < least:
        nothing: Values = dict.fromkeys(asked.measures)
        note = f"fewer than {least} users in this month, so nothing is told"
        return replace(
            whole, question=asked, rows=(), total=nothing, others=None, shares=(), notes=(note,)
        )
    if not asked.by:
        return replace(whole, question=asked)
    rows = {tuple(row[name] for name in asked.by): row for row in whole.rows}
    few = hidden(counts, list(rows), least)
    shown = [row for key, row in rows.items() if key not in few][: asked.top]
    count = len(rows) - len(shown)
    return replace(
        whole,
        question=asked,
        rows=tuple(shown),
        others=_others(asked, whole.total, shown) if count else None,
        others_count=count or None,
        shares=_shares(asked, whole.total, shown),
        notes=(*whole.notes, *((NOTE.format(least=least),) if few else ())),
    )


def _others(asked: Question, total: Values, shown: Sequence[Row]) -> Values:
    """
    What is left of the total; of what does not add up nothing is told.
    """
    others: Values = {}
    for name in asked.measures:
        whole, parts = total[name], [row[name] for row in shown]
        others[name] = None
        if measure(name).adds and whole is not None:
            others[name] = max(0.0, whole - sum(float(part) for part in parts if part is not None))
    return others


def _shares(asked: Question, total: Values, shown: Sequence[Row]) -> tuple[float | None, ...]:
    name = asked.measures[0]
    whole = total[name]
    if not measure(name).adds or not whole:
        return tuple(None for _row in shown)
    return tuple(None if (v := row[name]) is None else float(v) / whole for row in shown)
