"""
What was granted to whom: core and GPU hours of a project on a cluster over a period, from the
settings and from the files they name.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from leadline.errors import QuestionError, SettingsError
from leadline.query import Filter, Period, parse_period
from leadline.reports.settings import AllocationSettings, Charge, GrantSettings

HOURS_OF_YEAR = 8760.0  # 365 days, as grants in core or GPU years are counted
AMOUNTS = {"core_hours": 1.0, "core_years": HOURS_OF_YEAR}
AMOUNTS |= {"gpu_hours": 1.0, "gpu_years": HOURS_OF_YEAR}

Resource = Literal["core", "gpu"]
Zone = Callable[[str | None], ZoneInfo]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """
    None as project, cluster, partition or model: all of them.
    """

    project: str | None
    cluster: str | None
    partition: str | None = None
    gpu_model: str | None = None
    period: Period
    resource: Resource
    hours: float
    charge: Charge = "allocated"
    note: str = ""

    @property
    def measure(self) -> str:
        if self.charge == "allocated":
            return f"{self.resource}_hours_allocated"
        return "core_hours_used" if self.resource == "core" else "gpu_hours_busy"

    @property
    def places(self) -> tuple[Filter, ...]:
        """
        Where it holds, as the filters of a question.
        """
        known = {"cluster": self.cluster, "partition": self.partition, "gpu_model": self.gpu_model}
        return tuple(Filter(name, (value,)) for name, value in known.items() if value is not None)

    @property
    def start(self) -> datetime:
        assert self.period.start is not None
        return self.period.start

    @property
    def end(self) -> datetime:
        assert self.period.end is not None
        return self.period.end


def read_grants(
    settings: AllocationSettings,
    now: datetime,
    zone: Zone,
    named: Mapping[str, str] | None = None,
    demo: Path | None = None,
) -> tuple[Grant, ...]:
    """
    Every grant, in the order written. NAMED are the site's own periods, DEMO is the folder whose
    grants count as soon as a demo was loaded.
    """
    found = [("allocations.grants", grant) for grant in settings.grants]
    simulated = demo / "grants.csv" if demo else None
    files = [*settings.files, *([simulated] if simulated and simulated.exists() else [])]
    found += [row for path in files for row in _read_file(path)]
    made = [g for place, grant in found for g in _grants(place, grant, now, zone, named or {})]
    seen: set[tuple[object, ...]] = set()
    for one in made:
        key = (one.project, one.places, one.start, one.end, one.resource)
        if key in seen:
            whom = f"{one.project or 'all projects'} on {one.cluster or 'all clusters'}"
            whom += "".join(f", {name}" for name in (one.partition, one.gpu_model) if name)
            what = f"{one.resource} hours of {one.period.text}"
            raise SettingsError(f"allocations: {whom}: {what} are granted twice; add them up")
        seen.add(key)
    return tuple(made)


def _grants(
    place: str, given: GrantSettings, now: datetime, zone: Zone, named: Mapping[str, str]
) -> Iterator[Grant]:
    """
    One grant for each resource that is given.
    """
    where = zone(given.cluster or None)
    try:
        period = parse_period(given.period, now, where, named)
        moving = period != parse_period(given.period, now - timedelta(days=1000), where, named)
    except QuestionError as error:
        raise SettingsError(f"{place}: {error}") from None
    if moving or period.start is None or period.end is None:
        raise SettingsError(f"{place}: period {given.period!r} must have a first and a last day")
    for name, factor in AMOUNTS.items():
        amount = getattr(given, name)
        if amount:
            yield Grant(
                project=given.project or None,
                cluster=given.cluster or None,
                partition=given.partition or None,
                gpu_model=given.gpu_model or None,
                period=period,
                resource="gpu" if name.startswith("gpu") else "core",
                hours=amount * factor,
                charge=given.charge,
                note=given.note,
            )


def _read_file(path: Path) -> Iterator[tuple[str, GrantSettings]]:
    """
    CSV with the names of the settings as its head; tabs in a .tsv.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise SettingsError(f"allocations.files: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"allocations.files: {path}: not UTF-8 text") from None
    rows = csv.reader(lines, delimiter="\t" if path.suffix == ".tsv" else ",")
    head: Sequence[str] = ()
    for row in rows:
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        place = f"{path} line {rows.line_num}"
        if not head:
            head = _head(place, cells)
            continue
        if len(cells) != len(head):
            raise SettingsError(f"{place}: {len(cells)} cells where the head has {len(head)}")
        yield place, _row(place, dict(zip(head, cells, strict=True)))


def _head(place: str, cells: Sequence[str]) -> Sequence[str]:
    known = [field.name for field in fields(GrantSettings)]
    strange = [cell for cell in cells if cell not in known]
    if strange or "period" not in cells:
        wrong = f"column {strange[0]!r} is unknown" if strange else "column period is missing"
        raise SettingsError(f"{place}: {wrong}; columns are {', '.join(known)}")
    return cells


def _row(place: str, cells: Mapping[str, str]) -> GrantSettings:
    values: dict[str, object] = {}
    for name, text in cells.items():
        if not text:
            continue
        values[name] = _amount(place, name, text) if name in AMOUNTS else text
    if values.get("charge", "allocated") not in ("allocated", "used"):
        raise SettingsError(f"{place}: charge {values['charge']!r} is neither allocated nor used")
    try:
        return GrantSettings(**values)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{place}: {error}") from None


def _amount(place: str, name: str, text: str) -> float:
    try:
        return float(text.replace("_", "").replace(" ", ""))
    except ValueError:
        raise SettingsError(f"{place}: {name}: {text!r} is not a number") from None
