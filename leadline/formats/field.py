"""
The words every dataset is defined with: what a field is, and what a dataset is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Type(StrEnum):
    KEYWORD = "keyword"
    COMMAND = "command"  # a keyword that is searched by words as well
    PATH = "path"  # a keyword that is searched by its leading folders as well
    SET = "set"  # keywords, sorted and unique
    LONG = "long"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    DATE = "date"  # an instant, UTC, milliseconds
    DAY = "day"  # a calendar day, YYYY-MM-DD
    FLAT = "flat"  # any JSON object, kept whole


class Kind(StrEnum):
    ATTRIBUTE = "attribute"  # says which or what: never summed
    GAUGE = "gauge"  # true at one moment
    DELTA = "delta"  # happened within interval.seconds: may be summed


NUMBERS = frozenset({Type.LONG, Type.DOUBLE})
STRINGS = frozenset({Type.KEYWORD, Type.COMMAND, Type.PATH})


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    unit: str
    kind: Kind
    meaning: str
    signed: bool = False  # numbers are refused below 0 unless this says otherwise


@dataclass(frozen=True, kw_only=True)
class Dataset:
    name: str
    meaning: str
    family: str  # the index and the retention row it belongs to
    period: str  # "month" or "year": how its indices are cut
    key: tuple[str, ...]  # what makes a document the same document
    fields: tuple[Field, ...]
    replaces: bool = False  # a later version of a document takes the place of an earlier one
    sort: tuple[str, ...] = ("host.name", "@timestamp")

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}


def keyword(name: str, meaning: str) -> Field:
    return Field(name, Type.KEYWORD, "", Kind.ATTRIBUTE, meaning)


def command(name: str, meaning: str) -> Field:
    return Field(name, Type.COMMAND, "", Kind.ATTRIBUTE, meaning)


def path(name: str, meaning: str) -> Field:
    return Field(name, Type.PATH, "", Kind.ATTRIBUTE, meaning)


def plain_set(name: str, meaning: str) -> Field:
    return Field(name, Type.SET, "", Kind.ATTRIBUTE, meaning)


def flag(name: str, meaning: str) -> Field:
    return Field(name, Type.BOOLEAN, "", Kind.ATTRIBUTE, meaning)


def instant(name: str, meaning: str) -> Field:
    return Field(name, Type.DATE, "", Kind.ATTRIBUTE, meaning)


def number(name: str, meaning: str, *, signed: bool = False) -> Field:
    """
    A whole number that identifies or classifies: a pid, an exit code.
    """
    return Field(name, Type.LONG, "", Kind.ATTRIBUTE, meaning, signed)


def gauge(name: str, unit: str, meaning: str, *, signed: bool = False) -> Field:
    whole = unit in {"bytes", "count"}
    return Field(name, Type.LONG if whole else Type.DOUBLE, unit, Kind.GAUGE, meaning, signed)


def delta(name: str, unit: str, meaning: str) -> Field:
    whole = unit in {"bytes", "count"}
    return Field(name, Type.LONG if whole else Type.DOUBLE, unit, Kind.DELTA, meaning)
