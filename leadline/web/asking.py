"""
The desk where pages ask: one store, opened once, and answers remembered for some seconds.

Many readers look at the same page: the same question within those seconds is answered once, and
who comes while it is being answered waits for that answer instead of asking again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flask import Flask, current_app, g, has_request_context

from leadline.formats.times import parse_time
from leadline.query import Answer, Period, ask, dimension, parse_period
from leadline.query.compile import conditions_of
from leadline.query.public import PERIOD as PUBLIC_PERIOD
from leadline.query.question import DEFAULT_PERIOD, Question
from leadline.query.sure import Sure, how_sure
from leadline.query.zones import own_zones, question_zone
from leadline.store.contract import Found, Health, Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Plan, Row
from leadline.store.scope import Scope
from leadline.web.access import scope

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from leadline.web.site import Site

T = TypeVar("T")
MOST_KEPT = 1024
LONG = 1000  # rows; longer answers of the store are not kept
TOTALS = Scope(totals_only=True)
LONGEST = timedelta(minutes=2)  # that any answer is remembered
DATED = frozenset({"ask", "clusters", "findings"})  # keys that hold the moment their answer is of
WORTH = 1e-4  # a day without the last nine seconds is a day


class Desk:
    """
    Safe to share between threads.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self._store: Store | None = None
        self._opening = Lock()
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[datetime, object]] = OrderedDict()
        self._asked: dict[Hashable, Lock] = {}

    def open(self) -> Store:
        with self._opening:
            if self._store is None:
                self._store = self.site.open()
            return self._store

    @property
    def scope(self) -> Scope:
        """
        What the asker of this request may see.
        """
        return scope(self.site.scope)

    @property
    def usual_period(self) -> str:
        """
        What is meant where no period is named.
        """
        return PUBLIC_PERIOD if self.scope.least else DEFAULT_PERIOD

    @property
    def remember(self) -> timedelta:
        return timedelta(seconds=float(self.site.settings.remember))

    @property
    def now(self) -> datetime:
        """
        Now, in steps as long as answers are remembered: one page's questions share one now.
        """
        return self._step(self.remember)

    def hold(self, moment: datetime) -> None:
        """
        All that this request asks is as of MOMENT.
        """
        g.held = moment

    def _step(self, step: timedelta) -> datetime:
        if has_request_context() and (held := g.get("held")) is not None:
            return cast(datetime, held)
        moment = self._moment()
        return moment - timedelta(seconds=moment.timestamp() % max(1.0, step.total_seconds()))

    def _moment(self) -> datetime:
        """
        When this request began to ask: a slow page ends when its period ends, not after it.
        """
        if not has_request_context():
            return self.site.clock()
        if "moment" not in g:
            g.moment = self.site.clock()
        return cast(datetime, g.moment)

    def ask(self, question: Question) -> Answer:
        now, seen = self._step(self._remembered(question)), self.scope
        if has_request_context():
            g.as_of = min(now, g.get("as_of", now))
        return self.once(
            ("ask", str(question), now, seen),
            lambda: ask(
                question,
                self.kept_marks(),
                seen,
                now,
                zone=self.zone_of(question),
                own=own_zones(question, self.site.clusters),
                named=self.site.periods,
                rejected=self.site.rejected_in,
            ),
        )

    def sure(self, asked: Question) -> Sure:
        """
        What a list of the same period and nodes rests on.
        """
        rejected, now = self.site.rejected_in, self.now
        return self.once(
            ("sure", str(asked), now),
            lambda: how_sure(
                asked.where, self.period(asked.period), self.kept_marks(), now, rejected
            ),
        )

    def zone_of(self, question: Question) -> ZoneInfo:
        known = self.site.clusters
        return question_zone(question, known) if known else self.site.zone

    def kept_marks(self) -> Store:
        """
        The store, asked once for what every question of a page wants to know of nodes and marks.
        """
        return cast(Store, Marks(self))

    def _remembered(self, question: Question) -> timedelta:
        """
        The longer the span of samples that are asked for, the longer its answer stays true.
        """
        period = self.period(question.period)
        oldest = self.oldest()
        if oldest is None:
            return self.remember
        span = self.now - max(oldest, period.start or oldest)
        return max(self.remember, min(LONGEST, span * WORTH))

    def period(self, text: str) -> Period:
        return parse_period(text, self.now, self.site.zone, self.site.periods)

    def oldest(self) -> datetime | None:
        known = [health.oldest for health in self.health().datasets.values() if health.oldest]
        return parse_time(min(known)) if known else None

    def totals(self, plan: Plan) -> list[Row]:
        """
        What nodes and cards do as a whole: nobody's secret, and nobody is named in it; but a node
        may have one user, so who sees only totals of several is refused.
        """
        if self.scope.least:
            self.scope.allow_plan(plan)
        return self.once(("plan", plan), lambda: self.open().ask(plan, TOTALS))

    def conditions(self, asked: Question, dataset: str) -> tuple[Period, list[Condition]]:
        """
        The period and the filters of a question, as a store takes them for documents of DATASET.
        """
        period = self.period(asked.period)
        plan = Plan(dataset, (), start=period.start, end=period.end)
        named = [replace(known, dimension=dimension(known.dimension).name) for known in asked.where]
        found = [conditions_of(known, plan, self.open(), self.scope) for known in named]
        return period, [condition for part in found for condition in part]

    def search(self, words: str, asked: Question, limit: int) -> Found:
        """
        Command lines that hold WORDS, among those the question's filters and period leave.
        """
        period, where = self.conditions(asked, "process")
        seen, end = self.scope, min(period.end or self.now, self.now)
        return self.once(
            ("search", words, str(asked), limit, period.start, end, seen),
            lambda: self.open().search(
                words,
                seen,
                where=where,
                start=period.start,
                end=end,
                limit=limit,
            ),
        )

    def health(self) -> Health:
        return self.once(("health",), lambda: self.open().health())

    def clusters(self) -> list[str]:
        """
        The clusters that sent samples within the last month.
        """
        start = self.now.replace(minute=0, second=0, microsecond=0) - timedelta(days=31)
        counted = (Aggregate("samples", Function.COUNT),)
        plan = Plan("node", counted, by=(Group("cluster"),), start=start)
        key = ("clusters", start, self._step(LONGEST))
        lacking = replace(plan, dataset="process")  # what was read from files may have no nodes
        rows = self.once(
            key, lambda: self.open().ask(plan, TOTALS) or self.open().ask(lacking, TOTALS)
        )
        return sorted(str(row["cluster"]) for row in rows if row["cluster"] is not None)

    def _fresh(self, key: Hashable, made: datetime) -> bool:
        """
        Answers hold their own moment in the key, so an old one is never found again. One of a
        moment to come is of a clock that was set back since.
        """
        life = LONGEST if _asked_of(key) else self.remember
        return timedelta() <= self.site.clock() - made <= life

    def once(self, key: Hashable, work: Callable[[], T]) -> T:
        """
        What WORK finds, or what it found some seconds ago for the same KEY.
        """
        with self._lock:
            one = self._asked.setdefault(key, Lock())
        with one:
            kept = self._kept.get(key)
            if kept is not None and self._fresh(key, kept[0]):
                return cast(T, kept[1])
            try:
                found = work()
            except BaseException:
                self._asked.pop(key, None)  # a question that fails is not kept, nor is its lock
                raise
            with self._lock:
                self._kept[key] = (self.site.clock(), found)
                self._kept.move_to_end(key)
                while len(self._kept) > MOST_KEPT:
                    gone, _ = self._kept.popitem(last=False)
                    self._asked.pop(gone, None)
            return found

    def peek(self, key: Hashable) -> Any:
        """
        What is remembered under KEY; None where nothing is.
        """
        kept = self._kept.get(key)
        return kept[1] if kept is not None and self._fresh(key, kept[0]) else None

    def drop(self, key: Hashable) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._asked.pop(key, None)


class Marks:
    """
    The store as a page's questions see it: heartbeats, drops, the marks of roll-ups, sums that
    several of them need are asked for once in some seconds. Long lists are not kept.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._store = desk.open()

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def ask(self, plan: Plan, seen: Scope) -> list[Row]:
        key = ("mark", plan, seen)
        rows = self._desk.once(key, lambda: self._rows(plan, seen))
        if len(rows) > LONG:
            self._desk.drop(key)
        return rows

    def _rows(self, plan: Plan, seen: Scope) -> list[Row]:
        """
        Out of rows that were asked for with other figures beside these, where there are such: a
        picture shows one of the figures of its table.
        """
        if not plan.by or plan.limit is not None:
            return self._store.ask(plan, seen)
        key = ("wide", replace(plan, aggregates=()), seen)
        known: tuple[dict[Aggregate, str], list[Row]] = self._desk.peek(key) or ({}, [])
        names, wide = known
        if all(replace(a, name="") in names for a in plan.aggregates):
            shown = {group.field: group.field for group in plan.by}
            shown |= {a.name: names[replace(a, name="")] for a in plan.aggregates}
            return [{to: row[of] for to, of in shown.items()} for row in wide]
        rows = self._store.ask(plan, seen)
        if len(rows) <= LONG:
            named = {replace(a, name=""): a.name for a in plan.aggregates}
            self._desk.once(key, lambda: (named, rows))
        return rows


def _asked_of(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] in DATED


def desk_of(app: Flask) -> Desk:
    return cast(Desk, app.extensions["leadline"])


def desk() -> Desk:
    """
    The desk of the application that serves this request.
    """
    return desk_of(current_app)
