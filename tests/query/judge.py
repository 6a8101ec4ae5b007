"""
Random questions that hit what some documents hold, and answers judged by the truth about these.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.query import BUCKETS, DIMENSIONS, Answer, Filter, Prefix, ask, measure, question
from leadline.query.dimensions import Dimension
from leadline.query.question import Question
from leadline.store.contract import Store
from leadline.store.plan import Scalar
from leadline.store.scope import EVERYTHING
from tests.query.formulas import FORMULAS, OF, Number
from tests.query.truth import CLOCKS, Key, Truth

ZONE = ZoneInfo("Europe/Oslo")
INVENTORY = ("capacity", "node_state", "node")


class Judge:
    """
    Asks a store about DOCUMENTS, which it should hold.
    """

    def __init__(
        self, documents: list[Document], own: Mapping[str, ZoneInfo] | None = None
    ) -> None:
        self.documents = documents
        self.own = own
        self.truth = Truth(documents, ZONE, own)

    @cached_property
    def told(self) -> list[str]:
        """
        Measures that have a figure here other than nought.
        """
        return [
            n
            for n in (*FORMULAS, *OF)
            if self.truth.whole(question(measures=(n,), period="all"))[n]
        ]

    @cached_property
    def days(self) -> list[date]:
        return sorted({date.fromisoformat(str(d["@timestamp"])[:10]) for d in self.documents})

    def dimensions(self, dataset: str) -> list[str]:
        """
        What documents of DATASET can be told apart by, and really are.
        """
        known = [d for d in DIMENSIONS if told(d, dataset)]
        some = self.truth.by_dataset[dataset][:200]
        return [d.name for d in known if any(self.truth.held(x, d.name) != [None] for x in some)]

    def question(self, dice: random.Random) -> Question:
        one = dice.choice(self.told)
        like = [n for n in self.told if dataset_of(n) == dataset_of(one)]
        names = tuple(dict.fromkeys([one, *dice.sample(like, min(len(like), dice.randrange(3)))]))
        known = self.dimensions(dataset_of(one))
        usable = [n for n in known if n not in CLOCKS] if "jobs_running" in names else known
        by = dice.sample(usable, min(len(usable), dice.randrange(4)))
        bucket = [] if "jobs_running" in names else dice.sample(BUCKETS, dice.randrange(3) == 0)
        return question(
            measures=names,
            by=(*by, *bucket),
            where=tuple(
                self._filter(dice, dataset_of(one), usable)
                for _ in range(dice.choice([0, 0, 1, 2]))
            ),
            period=dice.choice(["all", self._span(dice)]),
            top=dice.choice([None, 1, 2, 10]),
            order=dice.choice(["", names[-1], *by]),
            ascending=dice.random() < 0.2,
        )

    def _span(self, dice: random.Random) -> str:
        first = dice.choice(self.days) - timedelta(days=dice.randrange(3))
        return f"{first}..{first + timedelta(days=dice.choice([0, 1, 6, 30]))}"

    def _filter(self, dice: random.Random, dataset: str, usable: list[str]) -> Filter:
        slices = dataset == "job_slice"
        plain = [n for n in usable if not known_edges(n) and not (slices and n == "hour_of_day")]
        name = dice.choice(plain)
        documents = dice.sample(self.truth.by_dataset[dataset], 1) * 2
        held = [_written(v) for d in documents for v in self.truth.held(d, name)]
        several = any(len(self.truth.held(d, name)) > 1 for d in self.truth.by_dataset[dataset])
        chosen = [held[0], dice.choice([*held, "nobody", Prefix(str(held[-1])[:2])])]
        if several or name in CLOCKS:
            chosen = chosen[:1]  # (none) among others has no words there
        return Filter(name, tuple(dict.fromkeys(chosen)), dice.random() < 0.3)

    def examine(
        self, store: Store, count: int, now: datetime, dice: random.Random, nearly: float = 0.0
    ) -> None:
        """
        COUNT random questions that STORE answers, and answers right; few may be refused.
        """
        answered = 0
        for _ in range(2 * count):
            answered += self.check(store, self.question(dice), now, nearly)
            if answered == count:
                return
        raise AssertionError(f"only {answered} questions were answered")

    def check(self, store: Store, asked: Question, now: datetime, nearly: float = 0.0) -> bool:
        """
        Whether there was an answer; that it is right is asserted.
        """
        try:
            answer = ask(asked, store, EVERYTHING, now, zone=ZONE, own=self.own)
        except QuestionError:
            return False
        asked = answer.question
        rows = self.truth.rows(asked)
        found: dict[Key, Mapping[str, Scalar | None]] = {
            tuple(row[name] for name in asked.keys): row for row in answer.rows
        }
        self._same_rows(answer, rows, found, nearly)
        gone = bool(answer.kept_from)
        same(asked, "total", answer.total, self.truth.whole(asked), nearly, gone)
        if asked.top is None:
            assert rows.keys() <= found.keys() or not asked.keys, f"{asked}: rows are missing"
            return True
        shown = {key[: len(asked.by)] for key in found}
        self._best(answer, shown, nearly)
        if answer.others is not None:
            same(asked, "others", answer.others, self.truth.others(asked, shown), nearly, gone)
        return True

    def _same_rows(
        self,
        answer: Answer,
        rows: Mapping[Key, Mapping[str, Number]],
        found: Mapping[Key, Mapping[str, Scalar | None]],
        nearly: float,
    ) -> None:
        asked = answer.question
        for key, row in found.items():
            if key in rows:
                same(asked, str(key), row, rows[key], nearly, bool(answer.kept_from))
            elif asked.keys:
                assert self._unused(asked, key), f"{asked}: {key} is nowhere"
                assert not any(row[name] for name in asked.measures), f"{asked}: {row}"

    def _unused(self, asked: Question, key: Key) -> bool:
        """
        Whether a row that no document made is of something that was there and was not used.
        """
        if not asked.ascending or len(asked.by) != 1:
            return False
        there = [d for name in INVENTORY for d in self.truth.by_dataset.get(name, [])]
        return any(key[0] in self.truth.held(d, asked.by[0]) for d in there)

    def _best(self, answer: Answer, shown: set[Key], nearly: float) -> None:
        """
        No row that is left out has more than one that is shown; the most that may be shown is.
        """
        asked = answer.question
        whole = question(
            measures=asked.measures, by=asked.by, where=asked.where, period=asked.period
        )
        rows = self.truth.rows(whole)
        hidden = [key for key in rows if key not in shown]
        assert asked.top is not None
        assert len(shown) >= min(asked.top, len(rows)) or not rows
        if not asked.by or asked.order in (*asked.by, asked.bucket):
            return
        sign = -1 if asked.ascending else 1
        name = asked.ranked_by
        out = [sign * v for key in hidden if (v := rows[key][name]) is not None]
        kept = [rows[key][name] if key in rows else 0.0 for key in shown]
        if out:
            assert None not in kept, f"{asked}: a row without a value is shown first"
            least = min(sign * v for v in kept if v is not None)
            slack = (nearly if measure(name).approximate else 1e-9) * abs(least) + 1e-9
            assert max(out) <= least + slack, f"{asked}: a greater one is left out"


def same(
    asked: Question,
    where: str,
    row: Mapping[str, Scalar | None],
    truth: Mapping[str, Number],
    nearly: float,
    gone: bool = False,
) -> None:
    """
    Where the answer says that something is not kept, a count of 0 may be untold.
    """
    for name in asked.measures:
        told, right = row[name], truth[name]
        if gone and told is None and not right:
            continue
        off = nearly if measure(name).approximate and nearly else 1e-9
        close = told == right or (
            told is not None
            and right is not None
            and math.isclose(float(told), right, rel_tol=off, abs_tol=1e-9)
        )
        assert close, f"{asked}: {where}: {name} is {right}, not {told}"


def told(known: Dimension, dataset: str) -> bool:
    """
    Whether documents of DATASET know it, or their node or run does.
    """
    own = known.field_in(dataset) is not None
    return own or known.by_node_in(dataset) or known.by_run_in(dataset)


def dataset_of(name: str) -> str:
    return FORMULAS[OF[name][1] if name in OF else name].dataset


def known_edges(name: str) -> bool:
    return any(d.edges for d in DIMENSIONS if d.name == name)


def _written(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
