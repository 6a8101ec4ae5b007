"""
Fills in what panels draw as a threshold: grants and limits, as /api/v1/constants serves them.

The products let no panel fetch from elsewhere unless they are told to, so the import brings the
figures along; after a new grant it is run again.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from kibana.build import compact
from kibana.check import Object
from kibana.vega import LIMITS
from leadline.errors import LeadlineError

PATH = "/api/v1/constants"
MEASURES = {"core": "core hours", "gpu": "GPU hours"}
TIMEOUT = 30


def fetched(address: str, token: str = "") -> Object:
    """
    The constants that the pages at ADDRESS serve.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        raise LeadlineError(f"--constants {address}: no address; write http://HOST:8470")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(address.rstrip("/") + PATH, headers=headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310 - http(s)
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        raise LeadlineError(f"--constants {address} answers {error.code} {error.reason}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise LeadlineError(f"--constants {address}: {reason}") from None
    if not isinstance(found, dict) or "grants" not in found:
        raise LeadlineError(f"--constants {address} answers, but not as leadline's pages do")
    return found


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
