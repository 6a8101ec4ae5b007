"""What everybody sees: the last whole month, and no more of it on later pages than on the first."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from leadline.formats.times import format_time
from leadline.store.memory import MemoryStore
from leadline.web.paging import cursor
from leadline.web.settings import WebSettings
from tests.web.conftest import NOW, process
from tests.web.test_access import app_with, client_with, told


def test_everybody_sees_the_last_whole_month() -> None:
    """
    Programs of five users or more stand in the public's table, others among the others.
    """
    own = MemoryStore()
    october = NOW - timedelta(days=35)
    people = [process(october, n, **{"user.name": f"u{n}"}) for n in range(60)]
    own.write([p | {"process.entity_id": f"{p['process.entity_id']}-o"} for p in people], "create")
    own.write([process(NOW - timedelta(minutes=9), 1)], "create")
    client = client_with(own, WebSettings(access="proxy", public=True))
    for address in ("/", "/usage", "/programs"):
        page = client.get(address).get_data(as_text=True)
        assert "1–31 October 2026" in page
        assert "VASP" in page
        assert "by%3Duser" not in page
    found = client.get("/api/v1/usage?by=program&period=previous+month").get_json()
    assert found["total"] == pytest.approx(sum(r["core_hours_used"] for r in found["rows"]))
    refused = client.get("/api/v1/usage?by=program&period=today")
    assert refused.status_code == 403


def test_no_cursor_moves_the_month_of_the_public() -> None:
    """
    The place in a list that an address names tells everybody no more than the list does, and of no
    other month: a moment of the past is not gone back to, one to come is refused.
    """
    own, now = MemoryStore(), datetime(2026, 11, 1, 0, 30, tzinfo=UTC)
    for month, program in ((9, "of September"), (10, "of October")):
        moment = datetime(2026, month, 20, 12, tzinfo=UTC)
        people = [
            process(moment, n, **{"user.name": f"u{n}", "program.name": f"{program} {n % 8}"})
            for n in range(48)
        ]
        lone = process(moment, 90, **{"user.name": "lone", "program.name": "of nobody else"})
        own.write([*people, lone], "create")
    client = app_with(own, WebSettings(access="proxy", public=True), now).test_client()
    whole = told(client.get("/usage?by=program&top=1000"))
    assert "1–31 October 2026" in whole
    assert "of October 7" in whole
    place = cursor((format_time(now - timedelta(hours=1)), 2))
    later = told(client.get(f"/usage?by=program&top=1000&cursor={place}"))
    names = re.compile(r'<td class="name">([^<]*)')
    assert "1–31 October 2026" in later
    assert set(names.findall(later)) < set(names.findall(whole))
    assert "nobody else" not in whole + later
    api = client.get(
        f"/api/v1/usage?by=program&period=previous+month&top=3&cursor={place}"
    ).get_json()
    assert "of October" in str(api["rows"])
    assert "of September" not in str(api)
    assert "nobody else" not in str(api)
    ahead = cursor((format_time(now + timedelta(days=31)), 0))
    assert client.get(f"/usage?by=program&cursor={ahead}").status_code == 400
    for closed in ("search?words=p", "jobs", "findings", "allocations/over-time.csv", "nodes"):
        mark = "&" if "?" in closed else "?"
        assert client.get(f"/{closed}{mark}cursor={place}").status_code == 403
