"""
A question as a frozen value, and the one line of text it is written as.

    core_hours_used, users by program, user per month where cluster=fox, user!=alice|bob
    during last 30 days top 10 order users ascending

The line is what people type, what page addresses hold and what saved questions keep:
`parse_question(str(question)) == question`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadline.errors import QuestionError
from leadline.query.periods import normal_text

BUCKETS = ("hour", "day", "week", "month", "quarter", "year")
DEFAULT_PERIOD = "last 30 days"
NONE = "(none)"  # how "the field is absent" is written among values

_KEYWORDS = ("by", "per", "where", "during", "top", "order")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"\*?|!=|[=,|]|(?:[^\s",=|!]|!(?!=))+|!|"')
_PLAIN = re.compile(r"[^\s\"\\,=|!*]+")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")


@dataclass(frozen=True, slots=True)
class Prefix:
    """
    Every value that begins so; written c1-*.
    """

    text: str


Value = str | Prefix | None  # None: absent


@dataclass(frozen=True, slots=True)
class Filter:
    """
    A dimension that must (or must not) have one of the values.
    """

    dimension: str
    values: tuple[Value, ...]
    negated: bool = False

    def __str__(self) -> str:
        sign = "!=" if self.negated else "="
        return f"{self.dimension}{sign}{'|'.join(_written(value) for value in self.values)}"


@dataclass(frozen=True, slots=True)
class Question:
    """
    What is asked. `top` None: every row. `order` "": the first measure, greatest first.
    """

    measures: tuple[str, ...] = ("core_hours_used",)
    by: tuple[str, ...] = ()
    where: tuple[Filter, ...] = ()
    period: str = DEFAULT_PERIOD
    bucket: str | None = None  # one of BUCKETS
    top: int | None = None
    order: str = ""  # a measure or a dimension asked for
    ascending: bool = False

    def __post_init__(self) -> None:
        if not self.measures:
            raise QuestionError("a question needs a measure, such as core_hours_used")
        for names in (self.measures, self.by):
            again = sorted({name for name in names if names.count(name) > 1})
            if again:
                raise QuestionError(f"named twice: {', '.join(again)}")
        if self.bucket is not None and self.bucket not in BUCKETS:
            raise QuestionError(f"per {self.bucket}: write one of {', '.join(BUCKETS)}")
        if self.top is not None and self.top < 1:
            raise QuestionError(f"top {self.top}: must be 1 or more")
        if self.order and self.order not in (*self.measures, *self.by, self.bucket):
            raise QuestionError(f"order {self.order}: not among what is asked for")

    def __str__(self) -> str:
        parts = [", ".join(self.measures)]
        if self.by:
            parts.append(f"by {', '.join(self.by)}")
        if self.bucket:
            parts.append(f"per {self.bucket}")
        if self.where:
            parts.append(f"where {', '.join(str(known) for known in self.where)}")
        parts.append(f"during {self.period}")
        if self.top is not None:
            parts.append(f"top {self.top}")
        if self.order or self.ascending:
            words = ["order", self.order or self.measures[0]]
            parts.append(" ".join([*words, *(["ascending"] if self.ascending else [])]))
        return " ".join(parts)

    @property
    def keys(self) -> tuple[str, ...]:
        """
        What tells rows apart: the dimensions, then the time bucket.
        """
        return (*self.by, self.bucket) if self.bucket else self.by

    @property
    def ranked_by(self) -> str:
        return self.order or self.measures[0]


def question(
    *,
    measures: tuple[str, ...] = (),
    by: tuple[str, ...] = (),
    where: tuple[Filter, ...] = (),
    period: str = "",
    top: int | None = None,
    order: str = "",
    ascending: bool = False,
) -> Question:
    """
    A question in its one form: a time bucket named among BY is its bucket.
    """
    buckets = [name for name in by if name in BUCKETS]
    if len(buckets) > 1:
        raise QuestionError(f"by {', '.join(buckets)}: one time bucket at a time")
    measures = measures or ("core_hours_used",)
    return Question(
        measures,
        tuple(name for name in by if name not in BUCKETS),
        where,
        tidy_period(period) or DEFAULT_PERIOD,
        buckets[0] if buckets else None,
        top,
        "" if ascending and order == measures[0] else order,
        ascending,
    )


def tidy_period(text: str) -> str:
    plain = normal_text(text)
    return {"this day": "today", "previous day": "yesterday"}.get(plain, plain)


def parse_question(text: str) -> Question:
    clauses = _clauses(_TOKEN.findall(text))
    top = clauses.get("top")
    order = clauses.get("order", [])
    if top is not None and not (len(top) == 1 and top[0].isdigit() and len(top[0]) < 8):
        raise QuestionError(f"top {' '.join(top)}: write top 10")
    if "order" in clauses and not (
        len(order) == 1 or (len(order) == 2 and order[1] in ("ascending", "descending"))
    ):
        raise QuestionError(f"order {' '.join(order)}: write `order users ascending`")
    per = clauses.get("per", [])
    if "per" in clauses and not (len(per) == 1 and per[0] in BUCKETS):
        raise QuestionError(f"per {' '.join(per)}: write one of {', '.join(BUCKETS)}")
    return question(
        measures=_names(clauses.get("", [])),
        by=(*_names(clauses.get("by", [])), *per),
        where=tuple(_filters(clauses.get("where", []))),
        period=" ".join(_unquoted(word) for word in clauses.get("during", [])),
        top=int(top[0]) if top else None,
        order=order[0] if order else "",
        ascending=order[1:] == ["ascending"],
    )


def parse_filters(text: str) -> tuple[Filter, ...]:
    """
    `user=alice, bob, cluster!=fox`: what follows a comma without a sign is one more value.
    """
    return tuple(_filters(_TOKEN.findall(text)))


def _clauses(tokens: list[str]) -> dict[str, list[str]]:
    clauses: dict[str, list[str]] = {"": []}
    current = ""
    for place, token in enumerate(tokens):
        follows = tokens[place - 1] if place else ""
        is_value = current == "where" and follows in ("=", "!=", "|", ",", "where")
        if token in _KEYWORDS and not is_value:
            if token in clauses:
                raise QuestionError(f"{token!r} stands twice in the question")
            current = token
            clauses[current] = []
        else:
            clauses[current].append(token)
    for name, words in clauses.items():
        if name and not words:
            raise QuestionError(f"nothing stands after {name!r}")
    return clauses


def _names(tokens: list[str]) -> tuple[str, ...]:
    names = [word for word in tokens if word != ","]
    for name in names:
        if not _NAME.fullmatch(name):
            raise QuestionError(f"{name!r} is not a name")
    if tokens and len(tokens) != 2 * len(names) - 1:
        raise QuestionError(f"{' '.join(tokens)}: put commas between names")
    return tuple(names)


def _filters(tokens: list[str]) -> Iterator[Filter]:
    rest = list(tokens)
    while rest:
        if len(rest) < 3 or rest[1] not in ("=", "!=") or not _NAME.fullmatch(rest[0]):
            raise QuestionError(f"where {' '.join(rest)}: write `where user=alice, cluster!=fox`")
        name, sign, *rest = rest
        values = [_value(rest.pop(0))]
        while rest and rest[0] in ("|", ","):
            if rest[0] == "," and len(rest) > 2 and rest[2] in ("=", "!="):
                rest.pop(0)
                break
            rest.pop(0)
            if not rest:
                raise QuestionError(f"where {name}{sign}…: a value is missing at the end")
            values.append(_value(rest.pop(0)))
        yield Filter(name, tuple(dict.fromkeys(values)), sign == "!=")


def _value(token: str) -> Value:
    if token.startswith('"'):
        return Prefix(_unquoted(token[:-1])) if token.endswith('"*') else _unquoted(token)
    if token in ("=", "!=", ",", "|", "!"):
        raise QuestionError(f"a value is missing before {token!r}")
    if token == NONE:
        return None
    if token.endswith("*"):
        return Prefix(token[:-1])
    return token


def _unquoted(token: str) -> str:
    if len(token) > 1 and token.startswith('"'):
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
    if token.startswith('"'):
        raise QuestionError("a quote is not closed")
    return token


def _written(value: Value) -> str:
    if value is None:
        return NONE
    text = value.text if isinstance(value, Prefix) else value
    star = "*" if isinstance(value, Prefix) else ""
    if not text and star:
        return star
    if _PLAIN.fullmatch(text) and text not in (NONE, *_KEYWORDS):
        return text + star
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"' + star
