"""
docs/reference/fields.md, written from the definitions so that it cannot fall behind them.
"""

from __future__ import annotations

from leadline.formats import DATASETS, Dataset, Field
from leadline.formats.common import COMMON

HEAD = """<!-- generated from leadline/formats by `python -m leadline.formats.generate` -->
# Datasets and fields

Every document is one flat JSON object with dotted names. A field that is absent was not measured;
it is never sent as 0 or as an empty text. Times carry a zone on the way in and are kept in UTC
with milliseconds. *Deltas* happened within `interval.seconds` and may be summed; *gauges* were
true at one moment and may not. A field this version does not know is kept under `labels`.

Percentages are 0–100 and 100 is one core or one card. Bytes are bytes.
"""


def fields_page() -> str:
    common = "\n".join(_row(field) for field in COMMON)
    parts = [HEAD, f"## In every document\n\n{_table(common)}"]
    parts += [_section(dataset) for dataset in DATASETS.values()]
    return "\n".join(parts)


def _section(dataset: Dataset) -> str:
    shared = {field.name for field in COMMON}
    rows = "\n".join(_row(field) for field in dataset.fields if field.name not in shared)
    pattern = "YYYY.MM" if dataset.period == "month" else "YYYY"
    key = ", ".join(f"`{name}`" for name in dataset.key)
    again = "the greater `record.version` stays" if dataset.replaces else "it is a duplicate"
    return (
        f"## {dataset.name}\n\n{dataset.meaning}. Index `leadline-{dataset.family}-{pattern}`, "
        f"lake table `{dataset.name}`.\n\n"
        f"The same document: {key}. When one comes again, {again}.\n\n{_table(rows)}"
    )


def _table(rows: str) -> str:
    return f"| Field | Type | Unit | Kind | Meaning |\n| --- | --- | --- | --- | --- |\n{rows}\n"


def _row(field: Field) -> str:
    return (
        f"| `{field.name}` | {field.type} | {field.unit} | {field.kind} | "
        f"{field.meaning.replace('|', '/')} |"
    )
