"""
What a naive reader works out from documents in plain Python, to judge answers by.

Of leadline.query it takes only how questions are written and which field a dimension stands for;
formulas, periods, filters, buckets and rows are written a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from leadline.formats import Document
from leadline.query.dimensions import dimension
from leadline.query.question import Filter, Prefix, Question
from tests.query.formulas import BY_CARD, FORMULAS, OF, RUNNING, Formula, Number

Key = tuple[Any, ...]
CLOCKS: dict[str, Callable[[datetime], int]] = {
    "hour_of_day": lambda moment: moment.hour,
    "weekday": lambda moment: moment.isoweekday(),
}


class Truth:
    """
    All documents there are, and what a question comes to on them.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        zone: ZoneInfo,
        own: Mapping[str, ZoneInfo] | None = None,
    ) -> None:
        self.zone, self.own = zone, own or {}
        self.by_dataset: dict[str, list[Document]] = {}
        self._found: dict[object, list[tuple[list[Key], Document]]] = {}  # of the last question
        for document in documents:
            self.by_dataset.setdefault(str(document["dataset"]), []).append(document)

    def formula(self, name: str, asked: Question) -> Formula:
        card = "gpu_model" in (*asked.by, *(known.dimension for known in asked.where))
        return BY_CARD[name] if card and name in BY_CARD else FORMULAS[name]

    def members(self, name: str, asked: Question) -> list[tuple[list[Key], Document]]:
        """
        The documents a measure is made of, each with the keys of the rows it counts in; a job's
        day is taken apart by hour, where hours are asked for.
        """
        known = self.formula(name, asked)
        key = (known.dataset, known.time, known.keep, asked.keys, asked.where, asked.period)
        if key not in self._found:
            if len(self._found) > 8:
                self._found.clear()
            self._found[key] = self._members(known, asked)
        return self._found[key]

    def _members(self, known: Formula, asked: Question) -> list[tuple[list[Key], Document]]:
        by_hour = "hour_of_day" in asked.by or asked.bucket == "hour"
        hours = known.dataset == "job_slice" and by_hour
        found = []
        for document in self.by_dataset.get(known.dataset, []):
            if not known.keep(document) or not self._within(document, known, asked.period):
                continue
            if not all(self._holds(document, each, known.time) for each in asked.where):
                continue
            for part in _by_hour(document) if hours else (document,):
                found.append((list(self._keys(part, known, asked)), part))
        return found

    def rows(self, asked: Question) -> dict[Key, dict[str, Number]]:
        """
        By dimensions and bucket; a row is there as soon as one measure has a document for it.
        """
        grouped: dict[str, dict[Key, list[Document]]] = {}
        for name in {part for known in asked.measures for part in OF.get(known, (known,))}:
            groups = grouped.setdefault(name, {})
            for keys, document in self.members(name, asked):
                for key in keys:
                    groups.setdefault(key, []).append(document)
        every = {key for groups in grouped.values() for key in groups}
        return {key: self._values(asked, lambda n, k=key: grouped[n].get(k, [])) for key in every}  # type: ignore[misc]

    def whole(self, asked: Question) -> dict[str, Number]:
        return self._values(asked, lambda n: [d for _, d in self.members(n, asked)])

    def others(self, asked: Question, shown: set[Key]) -> dict[str, Number]:
        """
        Of what no shown row holds.
        """
        cut = len(asked.by)

        def hidden(name: str) -> list[Document]:
            members = self.members(name, asked)
            return [d for keys, d in members if not {key[:cut] for key in keys} & shown]

        return self._values(asked, hidden)

    def _values(
        self, asked: Question, members: Callable[[str], list[Document]]
    ) -> dict[str, Number]:
        def value(name: str) -> Number:
            if name in OF:
                part, whole = map(value, OF[name])
                return None if part is None or not whole else 100 * part / whole
            return self.formula(name, asked).value(members(name))

        return {name: value(name) for name in asked.measures}

    def _within(self, document: Document, known: Formula, period: str) -> bool:
        if period == "all":
            return True
        first, last = map(date.fromisoformat, period.split(".."))
        if known.dataset == "job_slice":
            return str(first) <= str(document["local.day"]) <= str(last)
        if known.time == RUNNING:
            begin = datetime(first.year, first.month, first.day, tzinfo=self._zone(document))
            over = "job.end" in document and self._moment(document, "job.end") <= begin
            return self._moment(document, "job.start").date() <= last and not over
        return known.time in document and first <= self._moment(document, known.time).date() <= last

    def _moment(self, document: Document, field: str) -> datetime:
        return datetime.fromisoformat(str(document[field])).astimezone(self._zone(document))

    def _zone(self, document: Document) -> ZoneInfo:
        return self.own.get(str(document["cluster"]), self.zone)

    def _keys(self, document: Document, known: Formula, asked: Question) -> Iterator[Key]:
        keys: list[Key] = [()]
        for name in asked.by:
            held = self.held(document, name, known.time)
            keys = [(*key, value) for key in keys for value in held]
        for key in keys:
            yield (*key, self._bucket(document, known, asked.bucket)) if asked.bucket else key

    def held(self, document: Document, name: str, time: str = "@timestamp") -> list[Any]:
        """
        A document's values of a dimension; [None] where it has none. Clocks are read at TIME.
        """
        dataset = str(document["dataset"])
        if name in CLOCKS and time != "@timestamp":
            return [CLOCKS[name](self._moment(document, time)) if time in document else None]
        known = dimension(name)
        if known.by_node_in(dataset):
            return self._kinds(document)
        if known.by_run_in(dataset):
            run = self._runs.get(document.get("job.run"))
            return [None] if run is None else self.held(run, name)
        field = known.field_in(dataset)
        value = document.get("(hour)" if field == "hours" else str(field))
        if known.edges:
            below = [
                edge for edge in known.edges if value is not None and edge <= float(str(value))
            ]
            return [max(below, default=None)]
        if isinstance(value, list):
            return value or [None]
        return [value]

    def _kinds(self, document: Document) -> list[Any]:
        """
        What its nodes are, as the first dataset that knows any said last; [None] if nobody did.
        """
        nodes: Any = document.get("job.nodes", [document.get("host.name")])
        own = {self._all_kinds.get((document.get("cluster"), node)) for node in nodes}
        return sorted(own - {None}, key=str) or [None]

    @cached_property
    def _runs(self) -> dict[object, Document]:
        return {d["job.run"]: d for d in self.by_dataset.get("job", [])}

    @cached_property
    def _all_kinds(self) -> dict[tuple[object, object], object]:
        for dataset in ("capacity", "node_state", "node"):
            told = [d for d in self.by_dataset.get(dataset, []) if "node.type" in d]
            if told:
                told.sort(key=lambda d: str(d["@timestamp"]))
                return {(d["cluster"], d["host.name"]): d["node.type"] for d in told}
        return {}

    def _holds(self, document: Document, known: Filter, time: str) -> bool:
        found = self.held(document, known.dimension, time)
        held = [None if v is None else _text(v) for v in found]
        found = any(
            value is not None and value.startswith(wanted.text)
            if isinstance(wanted, Prefix)
            else value == wanted
            for wanted in known.values
            for value in held
        )
        return found != known.negated

    def _bucket(self, document: Document, known: Formula, bucket: str) -> str | None:
        if bucket == "hour":
            moment = self._moment(document, known.time)
            if known.dataset == "job_slice":  # an hour of its day by the clocks
                day = date.fromisoformat(str(document["local.day"]))
                moment = datetime(day.year, day.month, day.day, tzinfo=self._zone(document))
                moment = moment.replace(hour=int(str(document.get("(hour)", 0))))
            moment = moment.astimezone(UTC)
            return f"{moment:%Y-%m-%dT%H}:00:00.000Z"
        if known.time == "@timestamp":
            if "local.day" not in document:
                return None
            day = date.fromisoformat(str(document["local.day"]))
        else:
            day = self._moment(document, known.time).date()
        return {
            "day": day,
            "week": day - timedelta(days=day.isoweekday() - 1),
            "month": day.replace(day=1),
            "quarter": date(day.year, (day.month + 2) // 3 * 3 - 2, 1),
            "year": date(day.year, 1, 1),
        }[bucket].isoformat()


def _by_hour(document: Document) -> Iterator[Document]:
    hours: Any = document.get("hours") or {}
    whole = math.fsum(hours.values())
    if not whole:
        yield document
        return
    summed = ("wall.seconds", *(n for n in document if n.startswith(("core_", "gpu_seconds"))))
    for hour, seconds in hours.items():
        parts = {n: float(str(document[n])) * seconds / whole for n in summed if n in document}
        yield {**document, **parts, "(hour)": int(hour)}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
