"""
Everything found, the costliest first; a detector that cannot see says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from leadline.errors import QuestionError
from leadline.render import Column
from leadline.render.table import Value
from leadline.reports.detectors import DETECTORS
from leadline.reports.finding import Case, Finding
from leadline.reports.once import once
from leadline.reports.remembered import FRESH, with_memory

COLUMNS = (
    Column("kind", "Finding"),
    Column("cluster", "Cluster"),
    Column("object", "Where"),
    Column("user", "User"),
    Column("hours", "hours", "hours"),
    Column("unit", "Of what"),
    Column("since", "Since"),
    Column("evidence", "Evidence", below=True),
    Column("remedy", "Remedy", below=True),
)


def findings(case: Case, kinds: Sequence[str] = ()) -> list[Finding]:
    """
    What is found in the window; where it reaches up to now, with what the store remembers.
    """
    found = detected(case, kinds)
    if case.end >= case.now - FRESH:
        found = with_memory(found, case, kinds)
    return sorted(found, key=lambda f: (f.severity != "red", -(f.hours or 0), f.kind, f.object))


def detected(case: Case, kinds: Sequence[str] = ()) -> list[Finding]:
    for kind in kinds:
        if kind not in DETECTORS:
            raise QuestionError(f"no finding {kind!r}; there are {', '.join(DETECTORS)}")
    case = replace(case, store=once(case.store))
    return [
        finding
        for name, detect in DETECTORS.items()
        if not kinds or name in kinds
        for finding in detect(case)
    ]


def rows(found: Sequence[Finding]) -> list[dict[str, Value]]:
    return [
        {
            "kind": one.kind,
            "cluster": one.cluster,
            "object": one.object,
            "user": one.user,
            "hours": one.hours,
            "unit": one.unit if one.hours is not None else None,
            "since": one.since,
            "until": one.until,
            "evidence": one.evidence,
            "remedy": one.remedy,
            "severity": one.severity,
        }
        for one in found
    ]
