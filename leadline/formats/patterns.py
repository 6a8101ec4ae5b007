"""
Index patterns for OpenSearch Dashboards and Kibana: one per family, with units as field formats.

Fields themselves are left out: the products read them from the indices, and shipped lists go stale.
"""

from __future__ import annotations

from leadline.formats.field import Dataset, Field
from leadline.formats.templates import PREFIX, Body, families, pretty

# Unit → field format and its parameters, as both products know them.
FORMATS: dict[str, Body] = {
    "bytes": {"id": "bytes", "params": {"pattern": "0,0.[0] b"}},
    "seconds": {
        "id": "duration",
        "params": {"inputFormat": "seconds", "outputFormat": "asHours", "outputPrecision": 1},
    },
    "percent": {"id": "number", "params": {"pattern": "0,0.[0]"}},
    "count": {"id": "number", "params": {"pattern": "0,0"}},
}
# Lags and waits are read in minutes, not in hours.
IN_MINUTES = ("lag.seconds", "wait.seconds", "wait_eligible.seconds", "interval.seconds")


def field_format(field: Field) -> Body | None:
    if field.name.endswith(IN_MINUTES):
        params = {"inputFormat": "seconds", "outputFormat": "asMinutes", "outputPrecision": 1}
        return {"id": "duration", "params": params}
    return FORMATS.get(field.unit)


def index_pattern(family: str, datasets: list[Dataset]) -> Body:
    formats: Body = {}
    for dataset in datasets:
        for field in dataset.fields:
            if (found := field_format(field)) is not None:
                formats[field.name] = found
    return {
        "type": "index-pattern",
        "id": f"{PREFIX}-{family}",
        "attributes": {
            "title": f"{PREFIX}-{family}-*",
            "timeFieldName": "@timestamp",
            "fieldFormatMap": dict(sorted(formats.items())),
        },
        "references": [],
        "migrationVersion": {"index-pattern": "7.6.0"},
    }


def pattern_files() -> dict[str, str]:
    return {
        f"kibana/objects/index-pattern/{PREFIX}-{family}.json": pretty(index_pattern(family, found))
        for family, found in families().items()
    }
