"""
Fills in what panels draw as a threshold: grants and limits, as /api/v1/constants serves them.

The products let no panel fetch from elsewhere unless they are told to, so the import brings the
figures along; after a new grant it is run again.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from kibana.build import compact
from kibana.check import Object
from kibana.vega import LIMITS

MEASURES = {"core": "core hours", "gpu": "GPU hours"}


def filled(text: str, constants: Object, now: datetime) -> str:
    """
    The file to import, with the thresholds that hold NOW.
    """
    rows = tables(constants, now)
    lines = [json.loads(line) for line in text.splitlines()]
    return "\n".join(compact(_filled(one, rows)) for one in lines) + "\n"


def tables(constants: Object, now: datetime) -> dict[str, list[Object]]:
    """
    By the name of a data set within the panels: its rows.
    """
    found: dict[str, list[Object]] = {}
    for resource, name in MEASURES.items():
        days: dict[str, float] = {}
        for grant in constants["grants"]:
            begin, end = (datetime.fromisoformat(grant[edge]) for edge in ("from", "to"))
            if grant["resource"] == resource and grant["project"] and begin <= now < end:
                days[grant["project"]] = days.get(grant["project"], 0) + grant["hours_per_day"]
        found[name] = [{"project": who, "hours_per_day": hours} for who, hours in days.items()]
    if limits := constants.get("limits"):
        found[LIMITS] = [{name: limits[name] for name in ("busy_share", "hog_share")}]
    return found


def _filled(one: Any, rows: dict[str, list[Object]]) -> Any:
    text = one.get("attributes", {}).get("visState")
    state = json.loads(text) if text else {}
    if state.get("type") != "vega":
        return one
    spec = json.loads(state["params"]["spec"])
    for data in spec["data"]:
        if data["name"] in rows:
            data["values"] = rows[data["name"]]
    state["params"]["spec"] = compact(spec)
    return {**one, "attributes": {**one["attributes"], "visState": compact(state)}}
