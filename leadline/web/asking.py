"""
The desk where pages ask: one store, opened once, and answers remembered for some seconds.

Many readers look at the same page: the same question within those seconds is answered once, and
who comes while it is being answered waits for that answer instead of asking again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

from flask import Flask, current_app

from leadline.query import Answer, ask
from leadline.query.question import Question
from leadline.store.contract import Health, Store
from leadline.store.plan import Aggregate, Function, Group, Plan, Row

if TYPE_CHECKING:
    from leadline.web.app import Site

T = TypeVar("T")
MOST_KEPT = 512


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
    def remember(self) -> timedelta:
        return timedelta(seconds=float(self.site.settings.remember))

    @property
    def now(self) -> datetime:
        """
        Now, in steps as long as answers are remembered: one page's questions share one now.
        """
        moment = self.site.clock()
        step = max(1, int(self.remember.total_seconds()))
        return moment - timedelta(seconds=moment.timestamp() % step, microseconds=0)

    def ask(self, question: Question) -> Answer:
        now = self.now
        return self._once(
            ("ask", str(question), now),
            lambda: ask(question, self.open(), self.site.scope, now, zone=self.site.zone),
        )

    def plan(self, plan: Plan) -> list[Row]:
        return self._once(("plan", plan), lambda: self.open().ask(plan, self.site.scope))

    def health(self) -> Health:
        return self._once(("health",), lambda: self.open().health())

    def clusters(self) -> list[str]:
        """
        The clusters that sent samples within the last month.
        """
        start = self.now.replace(minute=0, second=0, microsecond=0) - timedelta(days=31)
        counted = (Aggregate("samples", Function.COUNT),)
        rows = self.plan(Plan("node", counted, by=(Group("cluster"),), start=start))
        return sorted(str(row["cluster"]) for row in rows if row["cluster"] is not None)

    def _once(self, key: Hashable, work: Callable[[], T]) -> T:
        with self._lock:
            one = self._asked.setdefault(key, Lock())
        with one:
            kept = self._kept.get(key)
            if kept is not None and self.site.clock() - kept[0] <= self.remember:
                return cast(T, kept[1])
            found = work()
            with self._lock:
                self._kept[key] = (self.site.clock(), found)
                self._kept.move_to_end(key)
                while len(self._kept) > MOST_KEPT:
                    gone, _ = self._kept.popitem(last=False)
                    self._asked.pop(gone, None)
            return found


def desk_of(app: Flask) -> Desk:
    return cast(Desk, app.extensions["leadline"])


def desk() -> Desk:
    """
    The desk of the application that serves this request.
    """
    return desk_of(current_app)
