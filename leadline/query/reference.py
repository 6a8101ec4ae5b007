"""
docs/reference/measures.md, written from the tables: `python -m leadline.query.reference`.
"""

from __future__ import annotations

from pathlib import Path

from leadline.query.dimensions import DIMENSIONS
from leadline.query.measure import Measure
from leadline.query.measures import MEASURES
from leadline.query.refusals import knows

PAGE = Path("docs") / "reference" / "measures.md"

HEAD = """<!-- generated from leadline/query by `python -m leadline.query.reference` -->
# Measures, dimensions, periods

    leadline usage 'core_hours_used, users by program, user per month \\
        where cluster=fox, user!=alice|bob, host=c1-* during 2026 top 10'

A question names measures, then `by` dimensions, `per` a time bucket (hour, day, week, month,
quarter, year), `where` filters, `during` a period, `top` N and `order` a name (`ascending`). Values
are listed with `|`, `c1-*` is a prefix, `(none)` is absence; quote what holds blanks or signs.

Others and totals are computed from raw sums, never from averages: rows and others make the total
for every measure that adds up. Distinct counts and percentiles are asked again for both. A value
that is missing was not measured; it is never 0. Figures marked ≈ are within 2 % on OpenSearch, and
on every store where raw samples have gone and hourly usage tells how memory was distributed.

## Periods

Half-open, in the cluster's own time zone; weeks start on Monday.

| Written | Means |
| --- | --- |
| `last 30 days`, `last 24 hours`, `last 3 months` | back by the clock; days with the hour |
| `today`, `yesterday`, `this month`, `previous quarter` | whole calendar units |
| `last week`, `last month`, `last quarter`, `last year` | the previous calendar one |
| `month to date`, `year to date` | from the unit's start to now |
| `2026`, `2026-Q4`, `2026-10`, `2026-W41`, `2026-10-05` | that year, quarter, month, week, day |
| `2026-10-01..2026-10-31`, `2026-10..2026-12`, `2026-10-01..` | from–to, both whole; to now |
| `2026-10-01T10:00..2026-10-01T12:00` | between two moments |
| `all` | everything kept |
"""

REFUSED = """
## What is not told apart

All else is told by every dimension and by two or three of them at once, over time or not. What
follows is refused, with a sentence that says what to ask instead: samples know programs, accounts
know runs, capacity knows nodes. What accounts say of a run is joined to its samples, for what adds
up and for distinct values that are few enough to be listed; over time, these cannot be. A run on
several nodes has one sum of hours, which is of no one of them: `core_hours_used by host` is. A run
has several programs, and is in every hour it ran.
"""


def measures_page() -> str:
    sampled = [_row(m) for m in MEASURES if m.dataset in ("process", "job_cgroup")]
    accounted = [_row(m) for m in MEASURES if m.dataset in ("job", "job_slice")]
    utilised = [_row(m) for m in MEASURES if m.dataset == "capacity"]
    dimensions = [f"| `{d.name}` | {d.title} | `{d.field}` | {d.sentence} |" for d in DIMENSIONS]
    head = "| Measure | Unit | Adds | Formula | Meaning |\n| --- | --- | --- | --- | --- |"
    parts = [
        HEAD,
        "## Measured on nodes\n",
        "\n".join([head, *sampled]),
        "\n## Accounted by schedulers\n",
        "\n".join([head, *accounted]),
        "\n## Of what nodes could do\n",
        "\n".join([head, *utilised]),
        "\n## Dimensions\n",
        "\n".join(
            ["| Dimension | Title | Field | Meaning |", "| --- | --- | --- | --- |", *dimensions]
        ),
        REFUSED,
        "\n".join(["| Measures | Not by |", "| --- | --- |", *_refused()]),
    ]
    return "\n".join(parts) + "\n"


def _refused() -> list[str]:
    """
    What nobody can tell, measures together that lack the same.
    """
    alike: dict[str, list[str]] = {}
    for known in MEASURES:
        lacks = ", ".join(f"`{d.name}`" for d in DIMENSIONS if not knows(known, d))
        alike.setdefault(lacks, []).append(f"`{known.name}`")
    return [f"| {', '.join(names)} | {lacks} |" for lacks, names in alike.items() if lacks]


def _row(known: Measure) -> str:
    adds = "yes" if known.adds else ""
    mark = " ≈" if known.approximate else ""
    formula = known.formula.replace("|", "/")
    return f"| `{known.name}`{mark} | {known.unit} | {adds} | {formula} | {known.sentence} |"


def main() -> None:
    PAGE.write_text(measures_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
