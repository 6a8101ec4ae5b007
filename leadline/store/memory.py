"""
The naive store: plain dictionaries, a few lines per verb, right by inspection.

It judges the others: whatever the lake and OpenSearch answer must be what this one answers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any

import orjson

from leadline.errors import FormatError
from leadline.formats import DATASETS, Document, Field, Type
from leadline.formats.times import format_time
from leadline.formats.validate import check
from leadline.store.classes import class_of
from leadline.store.clocks import Reading, first_day
from leadline.store.contract import (
    DatasetHealth,
    Expired,
    Found,
    Health,
    Hit,
    Mode,
    Outcome,
    Ready,
    counted,
    in_batches,
)
from leadline.store.people import People
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import Scope
from leadline.store.values import flat_path, typed_all
from leadline.store.words import parse

Key = tuple[object, ...]


class MemoryStore:
    """
    Keeps everything in this process, for tests and for looking at a file without a store.
    """

    def __init__(self) -> None:
        self.tables: dict[str, dict[Key, Document]] = {}

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        outcome = Outcome()
        for document in documents:
            try:
                checked = check(dict(document))
            except FormatError as error:
                outcome.rejected.append((document, str(error)))
                continue
            table = self.tables.setdefault(str(checked["dataset"]), {})
            key = tuple(checked.get(name) for name in DATASETS[str(checked["dataset"])].key)
            stored = table.get(key)
            newer = stored is None or (mode == "replace" and _version(checked) >= _version(stored))
            if newer:
                table[key] = checked
                outcome.accepted += 1
            else:
                outcome.duplicate += 1
        return outcome

    def write_ready(self, lines: Iterable[Ready]) -> Outcome:
        documents = [line.document() for line in lines]
        return self.write(documents, "create") if documents else Outcome()

    def scan(
        self,
        dataset: str,
        scope: Scope,
        *,
        where: Sequence[Condition] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        fields: Sequence[str] | None = None,
        order: Sequence[str] = ("@timestamp",),
        limit: int | None = None,
    ) -> Iterator[list[Document]]:
        scope.allow_documents()
        found = self._select(dataset, scope, where, start, end)
        for name in reversed(order):
            plain = name.removeprefix("-")
            have = [document for document in found if plain in document]
            have.sort(key=lambda document: document[plain], reverse=name != plain)  # type: ignore[arg-type, return-value]
            found = have + [document for document in found if plain not in document]
        copies = (
            {n: v for n, v in d.items() if fields is None or n in fields} for d in found[:limit]
        )
        yield from in_batches(copies, 1000)

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        scope.allow_plan(plan)
        fields = plan.fields
        found = self._select(
            plan.dataset, scope, plan.where, plan.start, plan.end, plan.time, fields
        )
        if plan.without:
            found = [document for document in found if not _left_out(document, plan, fields)]
        if any(group.bucket is Bucket.CLOCK for group in plan.by):
            found = list(_by_hour(found, plan))
        groups: dict[tuple[Any, ...], list[Document]] = {} if plan.by else {(): []}
        for document in found:
            for key in product(*(_parts(document, group, plan, fields) for group in plan.by)):
                groups.setdefault(key, []).append(document)
        return [
            dict(zip([group.field for group in plan.by], key, strict=True))
            | {a.name: _aggregate(a, members, fields) for a in plan.aggregates}
            for key, members in groups.items()
        ]

    def search(
        self,
        text: str,
        scope: Scope,
        *,
        where: Sequence[Condition] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 20,
    ) -> Found:
        scope.allow_documents()
        search = parse(text)
        lines: dict[str, list[Document]] = {}
        for document in self._select("process", scope, where, start, end):
            if "process.command_line" in document:
                lines.setdefault(str(document["process.command_line"]), []).append(document)
        hits = [
            _hit(line, matched, members)
            for line, members in lines.items()
            if (matched := search.matched(line)) is not None
        ]
        hits.sort(key=lambda hit: hit.command_line)
        hits.sort(key=lambda hit: (hit.matched, hit.core_hours, hit.last_seen), reverse=True)
        found = [document for hit in hits for document in lines[hit.command_line]]
        return Found(tuple(hits[:limit]), len(hits), counted(_facets(found)))

    def expire(self, keep: Mapping[str, datetime], *, dry_run: bool) -> list[Expired]:
        gone: dict[tuple[str, str], list[Key]] = {}
        for dataset, table in self.tables.items():
            kept_from = keep.get(DATASETS[dataset].family)
            for key, document in table.items():
                month = str(document["@timestamp"])[:7]
                if kept_from is not None and _month_end(month) <= kept_from:
                    gone.setdefault((dataset, month), []).append(key)
        if not dry_run:
            for (dataset, _), keys in gone.items():
                for key in keys:
                    del self.tables[dataset][key]
        return [
            Expired(f"{dataset}/{month}", dataset, len(keys), 0, _reason(dataset, keep))
            for (dataset, month), keys in sorted(gone.items())
        ]

    def forget(
        self,
        dataset: str,
        people: People,
        *,
        before: datetime | None = None,
        dry_run: bool,
    ) -> int:
        table, count = self.tables.get(dataset, {}), 0
        limit = None if before is None else format_time(before)
        for key, document in list(table.items()):
            kept = people.changed(document)
            if kept is document or (limit is not None and str(document["@timestamp"]) >= limit):
                continue
            count += 1
            if not dry_run:
                del table[key]
                if kept is not None:
                    table[tuple(kept.get(name) for name in DATASETS[dataset].key)] = kept
        return count

    def health(self) -> Health:
        datasets = {}
        for name, table in self.tables.items():
            times = [str(document["@timestamp"]) for document in table.values()]
            size = sum(len(orjson.dumps(document)) for document in table.values())
            datasets[name] = DatasetHealth(
                len(table), size, max(times, default=None), min(times, default=None)
            )
        return Health("memory", True, (), datasets)

    def close(self) -> None:
        self.tables.clear()

    def _select(
        self,
        dataset: str,
        scope: Scope,
        where: Sequence[Condition],
        start: datetime | None,
        end: datetime | None,
        time: str = "@timestamp",
        fields: dict[str, Field] | None = None,
    ) -> list[Document]:
        fields = DATASETS[dataset].by_name if fields is None else fields
        clocks = [field for field in fields.values() if isinstance(field, Reading)]
        either = scope.conditions()
        return [
            document
            for document in _read(self.tables.get(dataset, {}).values(), clocks)
            if all(holds(document, condition, fields) for condition in where)
            and (not either or any(holds(document, condition, fields) for condition in either))
            and _within(document.get(time), start, end)
        ]


def _read(documents: Iterable[Document], clocks: Sequence[Reading]) -> Iterable[Document]:
    """
    DOCUMENTS with what clocks showed.
    """
    if not clocks:
        return documents
    return (
        document
        | {known.name: value for known in clocks if (value := known.of(document)) is not None}
        for document in documents
    )


def holds(document: Document, condition: Condition, fields: dict[str, Field]) -> bool:
    held = _values(document, condition.field, fields)
    if condition.op is Op.EXISTS:
        return bool(held)
    if condition.op is Op.MISSING:
        return not held
    field = fields.get(condition.field)
    known = field is not None and field.type is not Type.FLAT
    wanted: list[Any] = (
        typed_all(field, condition.values) if field and known else list(map(str, condition.values))
    )
    if condition.op is Op.IN:
        return any(value in wanted for value in held)
    if condition.op is Op.NOT_IN:
        return not any(value in wanted for value in held)
    test: Callable[[Any, Any], bool] = {
        Op.AT_LEAST: lambda value, limit: value >= limit,
        Op.BELOW: lambda value, limit: value < limit,
        Op.PREFIX: lambda value, limit: str(value).startswith(str(limit)),
    }[condition.op]
    return any(test(value, limit) for value in held for limit in wanted)


def _left_out(document: Document, plan: Plan, fields: dict[str, Field]) -> bool:
    return any(all(holds(document, c, fields) for c in conditions) for conditions in plan.without)


def _values(document: Document, name: str, fields: dict[str, Field]) -> list[Any]:
    if path := flat_path(name, fields):
        inner = document.get(path[0].name)
        value = inner.get(path[1]) if isinstance(inner, dict) else None
        return (
            []
            if value is None
            else [value if isinstance(value, str) else orjson.dumps(value).decode()]
        )
    value = document.get(name)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _within(value: object, start: datetime | None, end: datetime | None) -> bool:
    if start is None and end is None:
        return True
    if value is None:
        return False
    text = str(value)
    return (start is None or text >= format_time(start)) and (
        end is None or text < format_time(end)
    )


CLOCK = "(hour)"  # of a document that was split by hour


def _by_hour(documents: list[Document], plan: Plan) -> Iterator[Document]:
    """
    Each document as several, one for each hour of the day it names, with its share of each sum.
    """
    (flat,) = [group.field for group in plan.by if group.bucket is Bucket.CLOCK]
    summed = [a.field for a in plan.aggregates if a.function is Function.SUM]
    for document in documents:
        hours: Any = document.get(flat)
        whole = math.fsum(hours.values()) if hours else 0.0
        if not whole:
            yield document
            continue
        for hour, seconds in hours.items():
            known = [name for name in summed if name in document]
            shares = {name: float(str(document[name])) * seconds / whole for name in known}
            yield {**document, **shares, CLOCK: int(hour)}


def _parts(document: Document, group: Group, plan: Plan, fields: dict[str, Field]) -> list[Any]:
    """
    The keys under which a document counts: one, or one for each value of a set.
    """
    if group.bucket is Bucket.HOUR:
        field = fields.get(group.field)
        name = group.field if field is not None and field.type is Type.DATE else plan.time
        value = document.get(name)
        return [None if value is None else f"{str(value)[:13]}:00:00.000Z"]
    if group.bucket is Bucket.CLOCK:
        return [document.get(CLOCK)]
    if group.bucket is Bucket.CLASS:
        return [class_of(value) for value in _values(document, group.field, fields)] or [None]
    if group.bucket is not None:
        day = document.get(group.field if _is_day(fields, group.field) else "local.day")
        return [None if day is None else first_day(date.fromisoformat(str(day)), group.bucket)]
    values = _values(document, group.field, fields) or [None]
    if group.edges:
        return [
            max((edge for edge in group.edges if value is not None and edge <= value), default=None)
            for value in values
        ]
    return values


def _is_day(fields: dict[str, Field], name: str) -> bool:
    return name in fields and fields[name].type is Type.DAY


def _aggregate(
    aggregate: Aggregate, documents: list[Document], fields: dict[str, Field]
) -> Any:  # a number or text, whatever the field holds
    members = [d for d in documents if all(holds(d, c, fields) for c in aggregate.where)]
    if aggregate.function is Function.COUNT:
        return sum(not aggregate.field or aggregate.field in document for document in members)
    values = [value for d in members for value in _values(d, aggregate.field, fields)]
    if aggregate.function is Function.DISTINCT:
        return len(set(values))
    if not values:
        return None
    if aggregate.function is Function.SUM:
        return math.fsum(values)
    if aggregate.function is Function.PERCENTILE:
        return _percentile(sorted(values), aggregate.percent)
    return min(values) if aggregate.function is Function.MIN else max(values)


def _percentile(values: list[float], percent: float) -> float:
    """
    The least value that so many percent do not exceed: one that was really measured.
    """
    return values[max(0, math.ceil(len(values) * percent / 100 - 1e-9) - 1)]


def _hit(line: str, matched: int, members: list[Document]) -> Hit:
    times = sorted(str(document["@timestamp"]) for document in members)
    return Hit(
        command_line=line,
        matched=matched,
        core_hours=math.fsum(float(str(d.get("core_seconds", 0))) for d in members) / 3600,
        samples=len(members),
        first_seen=times[0],
        last_seen=times[-1],
        users=tuple(sorted({str(d["user.name"]) for d in members if "user.name" in d})),
        programs=tuple(sorted({str(d["program.name"]) for d in members if "program.name" in d})),
    )


def _facets(documents: list[Document]) -> dict[str, Counter[str]]:
    fields = {"user": "user.name", "program": "program.name", "month": "local.day"}
    return {
        name: Counter(
            str(document[field])[: 7 if name == "month" else None]
            for document in documents
            if field in document
        )
        for name, field in fields.items()
    }


def _version(document: Document) -> int:
    return int(str(document.get("record.version", 0)))


def _month_end(month: str) -> datetime:
    first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    return (first + timedelta(days=32)).replace(day=1)


def _reason(dataset: str, keep: Mapping[str, datetime]) -> str:
    family = DATASETS[dataset].family
    return f"{family} is kept from {format_time(keep[family])[:10]}"
