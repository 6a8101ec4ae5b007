"""
Whether a job will scale, as it is printed on a terminal.
"""

from __future__ import annotations

from collections.abc import Sequence

from leadline.render import Column, Table, duration, number, paragraphs, render
from leadline.render.table import Value
from leadline.reports.scale import Scale
from leadline.reports.scale_limits import Use


def scale_summary(found: Scale, width: int = 100) -> str:
    sure = {"sure": "This is sure.", "likely": "This is likely.", "a guess": "This is a guess."}
    lines = [f"{found.job}  will it scale?", "", found.sentence]
    if found.sure:
        lines[-1] += f" {sure[found.sure]}"
    lines += [f"  • {text[:1].upper()}{text[1:]}." for text in found.evidence]
    if found.speedup is not None and found.limit not in ("serial parts", "one core"):
        lines.append(f"  • Its serial parts allow {found.speedup:.1f} times the speed at most.")
    if found.would_help:
        lines.append(f"What would help: {'; '.join(found.would_help)}.")
    if found.uses:
        lines += ["", *_uses(found.uses, width)]
    if found.sizes:
        lines += ["", f"Runs of this name:      {'cores':>8}{'runs':>8}{'mean time':>12}{'CPU':>8}"]
        lines += [
            f"{'':24}{size.cores:>8,}{size.runs:>8,}"
            f"{'–' if size.wall is None else duration(size.wall):>12}{_percent(size.efficiency):>8}"
            for size in found.sizes
        ]
    if found.missing:
        lines += ["", f"Not measured, so nothing is said of it: {', '.join(found.missing)}."]
    return paragraphs(lines, width)


def _uses(uses: Sequence[Use], width: int) -> list[str]:
    """
    What counts most stands first: the last columns go where there is no room.
    """
    columns = (
        Column("name", ""),
        Column("had", "had", "hours"),
        Column("mean", "mean", "hours"),
        Column("peak", "peak", "hours"),
        Column("sufficed", "sufficed", "hours"),
        Column("full", "all in use", "hours"),
        Column("fitted", "nodes have", "hours"),
    )
    rows = tuple(_use(use) for use in uses)
    return render(Table(columns, rows), "table", width=max(width - 2, 0) or 100).splitlines()


def _use(use: Use) -> dict[str, Value]:
    def cell(value: float | None) -> str:
        whole = use.unit == "hours" and value is not None and float(value).is_integer()
        return number(value, "" if whole else use.unit)

    return {
        "name": f"{use.name} GiB" if use.unit == "bytes" else use.name,
        "sufficed": cell(use.sufficed),
        "had": cell(use.had),
        "mean": number(use.mean, use.unit),
        "peak": number(use.peak, use.unit),
        "full": _percent(use.full),
        "fitted": cell(use.fitted),
    }


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
