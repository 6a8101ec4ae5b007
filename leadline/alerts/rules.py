"""
Rules: read from YAML, every one checked whole before anything is watched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leadline.alerts.settings import Severity
from leadline.errors import QuestionError, SettingsError
from leadline.formats import DATASETS, Type
from leadline.query import Filter, Question
from leadline.query.compile import canonical
from leadline.reports.detectors import DETECTORS
from leadline.settings.read import read_file
from leadline.settings.typed import Duration, build
from leadline.store.plan import Condition, Op, Scalar

SHIPPED = Path(__file__).with_name("rules.yaml")
CONDITION = re.compile(r"\s*(>=|<|=)\s*(.+?)\s*")
Watch = Literal["samples", "measure", "filling", "silent", "node state", "store", "finding"]


@dataclass(frozen=True)
class Rule:
    """
    One rule; `for` and `object` are its words in YAML for span and objects.
    """

    watch: Watch
    text: str
    severity: Severity = "warning"
    dataset: str = ""
    field: str = ""
    condition: str = ""
    measure: str = ""  # of the questions; `object` and `where` then name dimensions
    object: tuple[str, ...] = ()
    where: dict[str, str] | None = None  # field: value
    hours: float = 24.0
    finding: str = ""
    span: Duration = Duration(600)
    every: Duration = Duration(0)
    tell_user: bool = False
    dry: bool = False  # listed, never sent

    def __post_init__(self) -> None:
        try:
            self.text.format(object="o", value=1.0, words="w", user="u", cluster="c")
        except (KeyError, ValueError, IndexError) as error:
            known = "{object}, {value}, {words}, {user}, {cluster}"
            raise ValueError(f"text: {error} is not known; there are {known}") from None
        if self.watch == "finding" and self.finding not in DETECTORS:
            raise ValueError(f"finding {self.finding!r} is none of {', '.join(DETECTORS)}")
        if self.watch == "samples":
            self._check_samples()
        if self.watch == "measure":
            self._check_measure()

    def _check_measure(self) -> None:
        try:
            canonical(self.question)
        except QuestionError as error:
            raise ValueError(str(error)) from None
        match = CONDITION.fullmatch(self.condition)
        if match is None or match[1] == "=":
            raise ValueError(f"condition {self.condition!r}: write '>= 95' or '< 5'")
        float(match[2])

    @property
    def question(self) -> Question:
        """
        What a rule of a measure asks, each time over the last `for`.
        """
        where = tuple(Filter(name, (value,)) for name, value in (self.where or {}).items())
        minutes = max(1, round(self.span / 60))
        by = tuple(dict.fromkeys(("cluster", *self.object)))
        return Question((self.measure,), by, where, f"last {minutes} minutes")

    def passes(self, value: float) -> bool:
        match = CONDITION.fullmatch(self.condition)
        assert match is not None
        return value >= float(match[2]) if match[1] == ">=" else value < float(match[2])

    @property
    def objects(self) -> tuple[str, ...]:
        """
        The fields that tell objects of samples apart.
        """
        return self.object or ("host.name",)

    def _check_samples(self) -> None:
        if self.dataset not in DATASETS:
            raise ValueError(f"dataset {self.dataset!r} is none of {', '.join(DATASETS)}")
        fields = DATASETS[self.dataset].by_name
        for name in (self.field, *self.objects, *(self.where or {})):
            if name not in fields:
                raise ValueError(f"{name!r} is no field of {self.dataset}")
        if not CONDITION.fullmatch(self.condition):
            raise ValueError(f"condition {self.condition!r}: write '>= 95', '< 5' or '= down'")
        _ = self.past

    @property
    def past(self) -> Condition:
        """
        The condition as stores know it.
        """
        match = CONDITION.fullmatch(self.condition)
        assert match is not None
        sign, text = match.groups()
        kind = DATASETS[self.dataset].by_name[self.field].type
        if sign != "=":
            return Condition(self.field, Op.AT_LEAST if sign == ">=" else Op.BELOW, (float(text),))
        values: tuple[Scalar, ...] = tuple(part.strip() for part in text.split(","))
        if kind is Type.BOOLEAN:
            values = (text.lower() in ("true", "yes"),)
        return Condition(self.field, Op.IN, values)

    @property
    def numeric(self) -> bool:
        return self.watch == "samples" and not self.condition.strip().startswith("=")


def read_rules(site: Path | None = None, off: tuple[str, ...] = ()) -> dict[str, Rule]:
    found = _read(SHIPPED)
    if site is not None:
        found |= _read(site)
    for name in off:
        if name not in found:
            raise SettingsError(f"alerts.off: no rule {name!r}; there are {', '.join(found)}")
    return {name: rule for name, rule in found.items() if name not in off}


def _read(path: Path) -> dict[str, Rule]:
    tree = read_file(path)
    assert isinstance(tree.value, dict)
    found = {}
    for name, inner in tree.value.items():
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
            raise SettingsError(f"{inner.place}: rule {name!r}: small letters, digits and - only")
        if isinstance(inner.value, dict) and "for" in inner.value:
            inner.value["span"] = inner.value.pop("for")
        found[name] = build(Rule, inner, name)
    return found
