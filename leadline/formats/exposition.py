"""
Figures as Prometheus reads them: the text exposition format, for the daemons' /metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Metric:
    meaning: str
    labels: tuple[str, ...] = ()
    kind: Literal["gauge", "counter"] = "gauge"


# Name, the values of its labels in order, value.
Sample = tuple[str, tuple[str, ...], float]


def exposed(metrics: Mapping[str, Metric], samples: Iterable[Sample]) -> str:
    """
    Every metric with its help, in the order of METRICS, and its samples.
    """
    lines: dict[str, list[str]] = {name: [] for name in metrics}
    for name, values, figure in samples:
        lines[name].append(f"{name}{_labels(metrics[name].labels, values)} {figure:.15g}")
    text = []
    for name, known in metrics.items():
        text += [f"# HELP {name} {known.meaning}", f"# TYPE {name} {known.kind}", *lines[name]]
    return "\n".join(text) + "\n"


def table(metrics: Mapping[str, Metric]) -> str:
    """
    METRICS for the reference page.
    """
    rows = ["| Metric | Kind | Labels | Tells |", "| --- | --- | --- | --- |"]
    for name, known in metrics.items():
        labels = ", ".join(f"`{label}`" for label in known.labels) or "–"
        rows.append(f"| `{name}` | {known.kind} | {labels} | {known.meaning} |")
    return "\n".join(rows)


def _labels(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    if not names:
        return ""
    pairs = zip(names, values, strict=True)
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
