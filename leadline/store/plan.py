"""
What a store is asked, in the few words every store can do: group, aggregate, filter.

Questions people ask (leadline.query) are compiled to plans; each store turns plans into its own
language. Anything cleverer (top N, others, shares) is done above, on raw sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from leadline.formats import DATASETS, Field
from leadline.store.clocks import UTC, Clocks, readings

Scalar = str | int | float | bool


class Op(StrEnum):
    IN = "in"  # equal to one of the values; a set field: holds one of them
    NOT_IN = "not in"  # none of them; documents without the field match
    EXISTS = "exists"
    MISSING = "missing"
    AT_LEAST = ">="
    BELOW = "<"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Condition:
    """
    Values are taken as the field's type: text that is no number equals no number. A name within a
    FLAT field (labels.colour) is compared as text; a field the dataset lacks is absent. What clocks
    showed is a field, too (leadline.store.clocks).
    """

    field: str
    op: Op
    values: tuple[Scalar, ...] = ()


class Bucket(StrEnum):
    HOUR = "hour"  # the UTC hour of @timestamp (or of the plan's time field)
    DAY = "day"  # day and coarser: of local.day, so in the cluster's own zone
    WEEK = "week"  # its Monday
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    CLOCK = "clock"  # hour of the day, by a FLAT field of seconds by local hour ("00" to "23")
    CLASS = "class"  # of a whole number that is not below 0: leadline.store.classes


@dataclass(frozen=True, slots=True)
class Group:
    """
    One key of the answer's rows: a field's value, or the bucket of a time field.

    Rows carry the value as text, number or None (the field is absent). Buckets are written as
    their first day, 2026-11-21, hours as 2026-11-21T04:00:00.000Z. A set field gives one row per
    value it holds, and None when it holds none. `edges` cut a number into half-open classes
    and rows carry the class's lower edge; below the first edge is None, like absent. HOUR goes by
    the field when it is an instant, else by the plan's time; DAY and longer go by the field when
    it is a day, else by local.day. CLOCK gives one row per hour that a document's field names, and
    its SUMs are split over them in proportion; beside it only SUM and COUNT may be asked.
    """

    field: str
    bucket: Bucket | None = None
    edges: tuple[float, ...] = ()


class Function(StrEnum):
    COUNT = "count"  # documents, or documents that have the field when one is named
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    DISTINCT = "distinct"  # exact up to 100,000 values
    # The least value that so many percent do not exceed; within 1 % of it on OpenSearch.
    PERCENTILE = "percentile"


@dataclass(frozen=True, slots=True)
class Aggregate:
    name: str  # what rows call it
    function: Function
    field: str = ""
    percent: float = 50.0  # for PERCENTILE
    where: tuple[Condition, ...] = ()  # counts only documents that also match


@dataclass(frozen=True, slots=True)
class Plan:
    """
    `limit` rows are enough, the greatest of the aggregate `best` (`-name`: the least) first, None
    last, ties by the keys' text. It only saves work: a store may as well answer every row. One
    that does not says under ROWS how many there are. Documents that match all conditions of one
    of `without` are left out. `clocks` are those that `hour of job.end` is read from.
    """

    dataset: str
    aggregates: tuple[Aggregate, ...]
    by: tuple[Group, ...] = ()
    where: tuple[Condition, ...] = ()
    start: datetime | None = None  # half-open on `time`, with zone
    end: datetime | None = None
    time: str = "@timestamp"
    best: str = ""
    limit: int | None = None
    without: tuple[tuple[Condition, ...], ...] = ()
    clocks: Clocks = UTC

    @property
    def fields(self) -> dict[str, Field]:
        """
        What the dataset knows, and what clocks showed where that is asked for.
        """
        names = [group.field for group in self.by]
        names += [c.field for conditions in (self.where, *self.without) for c in conditions]
        names += [c.field for aggregate in self.aggregates for c in aggregate.where]
        return DATASETS[self.dataset].by_name | readings(names, self.clocks)


Row = dict[str, Scalar | None]
ROWS = "(rows)"
