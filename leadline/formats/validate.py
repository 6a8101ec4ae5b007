"""
The gate every document passes: known fields are typed, unknown ones kept, broken ones refused.

Most documents of a sender have the same fields with the same types, so the verdict on a shape
(its names and the types of its values) is remembered and only values are looked at again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from operator import itemgetter

import orjson

from leadline.errors import FormatError
from leadline.formats import DATASETS, Dataset, Document, Field, Type
from leadline.formats.field import NUMBERS, STRINGS
from leadline.formats.times import canonical_time

LONGEST = {Type.KEYWORD: 2048, Type.COMMAND: 8191, Type.PATH: 4096}
SHORT = LONGEST[Type.KEYWORD]
LARGEST = 2**63 - 1
LABELS_BYTES = 65536
LABELS_COUNT = 256
SET_COUNT = 10000
SHAPES_KEPT = 4096

# What a sender may leave out: the worker adds the cluster, old sources know no boot.
# Hourly usage is told apart by whatever its samples said, which may be nothing.
OPTIONAL_KEY = frozenset(
    (
        *("cluster", "boot.id", "sample.uptime", "gpu.model", "job.id", "job.run", "user.id"),
        *("user.name", "program.name", "program.rule", "process.name", "stray", "command.shape"),
    )
)

Values = Callable[[Document], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Shape:
    """
    What remains to be looked at in a document whose names and types are right.
    """

    strings: Values
    numbers: Values
    dates: tuple[str, ...]
    sets: tuple[str, ...]
    signed: tuple[str, ...]
    long: tuple[tuple[str, int], ...]  # strings that may be longer than most, and how long
    slow: bool  # days, labels, whole numbers written with a point: looked at one by one


def read_line(line: bytes) -> Document:
    """
    One NDJSON line as a checked document. Raises FormatError and nothing else.
    """
    try:
        raw = orjson.loads(line)
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"not JSON: {str(error)[:120]}") from None
    if not isinstance(raw, dict):
        raise FormatError(f"not a JSON object but a {type(raw).__name__}")
    if b"\\u0000" in line:
        raw = _without_nul(raw)
    return check(raw)


def check(raw: Document) -> Document:
    """
    RAW with canonical times, absent fields left out and unknown fields under `labels`.

    The document is returned as it is, not copied, when nothing had to change but its times.
    """
    shape = _SHAPES.get(key := (*raw, *map(type, raw.values()), str(raw.get("dataset"))))
    if shape is None:
        return _check_slowly(raw, key)
    if shape.slow or not _values_hold(raw, shape):
        return _typed(raw, _dataset(raw))
    name = ""
    try:
        for name in shape.dates:
            raw[name] = canonical_time(raw[name])
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None
    return raw


_SHAPES: dict[tuple[object, ...], Shape] = {}


def _values_hold(raw: Document, shape: Shape) -> bool:
    strings = shape.strings(raw)
    if "" in strings:
        return False
    # What is short enough together is so one by one.
    if len("".join(strings)) > SHORT and not _lengths_hold(raw, shape, strings):  # type: ignore[arg-type]
        return False
    if shape.sets and not all(_is_set(raw[name]) for name in shape.sets):
        return False
    if shape.signed and not all(abs(raw[name]) <= LARGEST for name in shape.signed):  # type: ignore[arg-type]
        return False
    numbers = shape.numbers(raw)
    if not numbers:
        return True
    # What is not negative and small enough together is so one by one; NaN is in no order.
    return min(numbers) >= 0 and sum(numbers) <= LARGEST  # type: ignore[type-var, operator, arg-type]


def _lengths_hold(raw: Document, shape: Shape, strings: tuple[object, ...]) -> bool:
    too_long = sum(len(text) > SHORT for text in strings)  # type: ignore[arg-type]
    explained = sum(SHORT < len(raw[name]) <= limit for name, limit in shape.long)  # type: ignore[arg-type]
    return too_long == explained


def _is_set(value: object) -> bool:
    """
    Whether VALUE is a set as it is kept: texts, none empty or too long, sorted, each once.
    """
    if not isinstance(value, list) or not 0 < len(value) <= SET_COUNT:
        return False
    last = ""
    for item in value:
        if type(item) is not str or item <= last or len(item) > SHORT:
            return False
        last = item
    return True


def _check_slowly(raw: Document, key: tuple[object, ...]) -> Document:
    dataset = _dataset(raw)
    checked = _typed(raw, dataset)
    if list(checked) == list(raw) and len(_SHAPES) < SHAPES_KEPT:
        _SHAPES[key] = _shape(raw, _fields(dataset.name))
    return checked


def _shape(document: Document, fields: dict[str, Field]) -> Shape:
    strings = [n for n in document if fields[n].type in STRINGS]
    numbers = [n for n in document if fields[n].type in NUMBERS and not fields[n].signed]
    plain = {*STRINGS, *NUMBERS, Type.DATE, Type.BOOLEAN, Type.SET}
    slow = any(
        fields[n].type not in plain
        or (fields[n].type is Type.LONG and isinstance(document[n], float))
        for n in document
    )
    dates = tuple(n for n in document if fields[n].type is Type.DATE)
    sets = tuple(n for n in document if fields[n].type is Type.SET)
    signed = tuple(n for n in document if fields[n].signed)
    long = [(n, LONGEST[fields[n].type]) for n in strings if LONGEST[fields[n].type] > SHORT]
    return Shape(_getter(strings), _getter(numbers), dates, sets, signed, tuple(long), slow)


def _getter(names: list[str]) -> Values:
    if not names:
        return lambda document: ()
    if len(names) == 1:
        return lambda document: (document[names[0]],)
    return itemgetter(*names)


def _dataset(raw: Document) -> Dataset:
    name = raw.get("dataset")
    if name is None:
        raise FormatError(f"dataset: missing; write one of {', '.join(DATASETS)}")
    if not isinstance(name, str) or name not in DATASETS:
        raise FormatError(f"dataset: {str(name)[:40]!r} is none of {', '.join(DATASETS)}")
    return DATASETS[name]


@cache
def _fields(dataset: str) -> dict[str, Field]:
    return DATASETS[dataset].by_name


def _typed(raw: Document, dataset: Dataset) -> Document:
    """
    Every value looked at by its field's type: the slow path, and the only one that changes names.
    """
    fields = _fields(dataset.name)
    checked: Document = {}
    unknown: dict[str, object] = {}
    for name, value in _flat(raw, fields):
        if value is None or value == "" or value == []:
            continue
        field = fields.get(name)
        if field is None:
            unknown[name] = value
        elif field.name == "labels":
            unknown.update(_labels(value))
        else:
            checked[name] = _READERS[field.type](field, value)
    if unknown:
        checked["labels"] = _bounded(unknown)
    for name in dataset.key:
        if name not in checked and name not in OPTIONAL_KEY:
            raise FormatError(f"{name}: missing, and a {dataset.name} document needs it")
    return checked


def _flat(raw: Document, fields: dict[str, Field]) -> list[tuple[str, object]]:
    """
    Nested objects as dotted names, but for fields that are objects themselves.
    """
    pairs: list[tuple[str, object]] = []
    todo: list[tuple[str, object]] = [(str(name), value) for name, value in reversed(raw.items())]
    while todo:
        name, value = todo.pop()
        field = fields.get(name)
        if isinstance(value, dict) and (field is None or field.type is not Type.FLAT):
            if name.count(".") > 20:
                raise FormatError(f"{name[:80]}: nested too deep")
            todo.extend((f"{name}.{inner}", v) for inner, v in reversed(value.items()))
        else:
            pairs.append((name, value))
    return pairs


def _labels(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise FormatError("labels: not an object")
    return value


def _bounded(labels: dict[str, object]) -> dict[str, object]:
    if len(labels) > LABELS_COUNT:
        raise FormatError(f"labels: {len(labels)} unknown fields, at most {LABELS_COUNT} are kept")
    if _size("labels", labels) > LABELS_BYTES:
        raise FormatError(f"labels: unknown fields of more than {LABELS_BYTES} bytes")
    return dict(sorted(labels.items()))


def _size(name: str, value: object) -> int:
    try:
        return len(orjson.dumps(value))
    except orjson.JSONEncodeError as error:  # a reader's own value; JSON text cannot hold it
        raise FormatError(f"{name}: {error}") from None


def _string(field: Field, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(field, value, "text")
    if len(value) > LONGEST[field.type]:
        raise FormatError(f"{field.name}: {len(value)} characters, at most {LONGEST[field.type]}")
    return value


def _number(field: Field, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(field, value, "a number")
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise FormatError(f"{field.name}: {str(value)[:40]} is out of range")
    if value < 0 and not field.signed:
        raise FormatError(f"{field.name}: {value} is negative")
    return value


def _long(field: Field, value: object) -> int:
    number = _number(field, value)
    if number != int(number):
        raise FormatError(f"{field.name}: {number} is not a whole number")
    return int(number)


def _double(field: Field, value: object) -> float:
    return _number(field, value)


def _boolean(field: Field, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(field, value, "true or false")
    return value


def _date(field: Field, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(field, value, "an ISO 8601 time")
    return _time(field.name, value)


def _time(name: str, value: object) -> str:
    try:
        return canonical_time(str(value))
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None


def _day(field: Field, value: object) -> str:
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise _wrong(field, value, "a day as YYYY-MM-DD") from None


def _set(field: Field, value: object) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _wrong(field, value, "a list of texts")
    if len(items) > SET_COUNT or any(len(item) > LONGEST[Type.KEYWORD] for item in items):
        raise FormatError(f"{field.name}: too many or too long entries")
    return sorted({item for item in items if item})


def _flat_object(field: Field, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _wrong(field, value, "an object")
    if _size(field.name, value) > LABELS_BYTES:
        raise FormatError(f"{field.name}: more than {LABELS_BYTES} bytes")
    return value


_READERS: dict[Type, Callable[[Field, object], object]] = {
    Type.KEYWORD: _string,
    Type.COMMAND: _string,
    Type.PATH: _string,
    Type.SET: _set,
    Type.LONG: _long,
    Type.DOUBLE: _double,
    Type.BOOLEAN: _boolean,
    Type.DATE: _date,
    Type.DAY: _day,
    Type.FLAT: _flat_object,
}


def _wrong(field: Field, value: object, wanted: str) -> FormatError:
    return FormatError(f"{field.name}: {str(value)[:40]!r} is not {wanted}")


def _without_nul(value: object) -> Document:
    """
    NUL characters as U+2400, which every store can hold.
    """

    def clean(item: object) -> object:
        if isinstance(item, str):
            return item.replace("\0", "␀")
        if isinstance(item, list):
            return [clean(inner) for inner in item]
        if isinstance(item, dict):
            return {str(clean(name)): clean(inner) for name, inner in item.items()}
        return item

    cleaned = clean(value)
    assert isinstance(cleaned, dict)
    return cleaned
