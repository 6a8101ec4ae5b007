"""The API: each address as its description says, in JSON and CSV, in pieces, with ETags."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.store.memory import MemoryStore
from leadline.store.scope import Scope
from leadline.web import create_app
from leadline.web.api import ROUTES
from leadline.web.api.route import BASE, Route
from leadline.web.paging import cursor
from leadline.web.settings import ConstantSettings
from tests.web.conftest import NOW, job, node, process, site_of, week

# A question for each route that needs one.
LISTS = [route for route in ROUTES if route.forms == ("json", "csv")]
ASKED = {"search": "?words=mdrun", "values": "?dimension=user", "jobs": "?period=last+7+days"}
GRANTS = (
    GrantSettings(period="2026-10-01..2027-03-31", project="chem", cluster="fox", core_hours=1820),
    GrantSettings(period="2026", cluster="fox", gpu_years=2),
)


def state(host: str, name: str) -> dict[str, object]:
    return {
        **node(NOW - timedelta(minutes=30), host),
        "dataset": "node_state",
        "state.name": name,
        "state.hash": f"{host}{name}",
    }


@pytest.fixture(scope="module")
def app() -> Flask:
    store = MemoryStore()
    store.write(week(), "create")
    store.write([state(f"c1-{number}", "IDLE") for number in range(12)], "create")
    card = {"gpu.uuid": "GPU-1", "gpu.model": "A100", "dataset": "gpu", "gpu_seconds": 9.0}
    store.write([{**node(NOW - timedelta(minutes=30), "c1-1"), **card}], "create")
    ticks = [NOW - timedelta(hours=4, minutes=5 * number) for number in range(8)]
    long = {"job.id": "fox/777", "interval.seconds": 300, "process.entity_id": "7-7"}
    store.write([process(tick, 1, **long) for tick in ticks], "create")
    site = replace(
        site_of(store),
        constants={"students": ConstantSettings(2400, "people", "enrolled")},
        allocations=AllocationSettings(grants=GRANTS),
    )
    return create_app(site)


def address(route: Route) -> str:
    path = route.path.replace("<path:job>", "fox/101")
    return f"{BASE}{path}{ASKED.get(route.name, '')}"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_answers_are_as_described(client: FlaskClient, route: Route) -> None:
    """
    What a route answers fits its schema, and is not sent again to who has it.
    """
    answer = client.get(address(route))
    assert answer.status_code == 200, answer.data
    Draft202012Validator(route.answer).validate(answer.get_json())
    again = client.get(address(route), headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    assert again.data == b""


def test_description_is_valid_and_whole(client: FlaskClient) -> None:
    """
    The OpenAPI document is valid and names every address below /api/v1 with its parameters.
    """
    document = client.get("/api/v1/openapi.json").get_json()
    validate(document)
    assert len(document["paths"]) == len(ROUTES)
    for route in ROUTES:
        path = route.path.replace("<path:job>", "{job}")
        named = {p["name"] for p in document["paths"][path]["get"]["parameters"]}
        assert named == {p.name for p in route.parameters} | set(route.parts)


@pytest.mark.parametrize(
    "route",
    LISTS,
    ids=lambda route: route.name,
)
def test_csv_has_the_rows_of_json(client: FlaskClient, route: Route) -> None:
    """
    The same rows, whichever form is asked for.
    """
    sign = "&" if route.name in ASKED else "?"
    text = client.get(f"{address(route)}{sign}format=csv")
    assert text.mimetype == "text/csv"
    lines = list(csv.DictReader(io.StringIO(text.get_data(as_text=True))))
    assert len(lines) == len(client.get(address(route)).get_json()["rows"])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("usage?by=progam", "do you mean program"),
        ("usage?perod=today", "did you mean period?"),
        ("usage?format=xml", "write json or csv"),
        ("jobs/fox/101?format=svg", "too few samples for a picture"),
        ("search", "words=gmx+mdrun"),
        ("jobs?limit=0", "from 1 to 1000"),
        ("jobs?where=x", "where user=alice"),
        ("jobs?cursor=xyz", "take it from `next`"),
        (f"jobs?cursor={cursor(['soon', 1])}", "take it from `next`"),
        (f"nodes?cursor={cursor([1, 2])}", "take it from `next`"),
        ("findings?kind=nothing", "no finding"),
        (f"jobs?cursor={cursor(['9999-12-31T23:59:59.999Z', 1])}", "take it from `next`"),
        (f"usage?cursor={cursor([NOW.isoformat(), 10**6])}", "narrow it"),
        (f"jobs?cursor={cursor(['2026-11-20T00:00:00Z', -1])}", "narrow them by `where`"),
        ("usage?by=user&by=program", "by: given 2 times; write it once"),
        ("usage?q=jobs+by+user&period=today", "q: says it all; leave out period"),
        ("values?dimension=usr", "do you mean user"),
    ],
)
def test_what_cannot_be_asked_is_a_problem(client: FlaskClient, asked: str, told: str) -> None:
    """
    One line in the form of RFC 9457: what, where, the way out.
    """
    answer = client.get(f"{BASE}/{asked}")
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    problem = answer.get_json()
    assert problem["status"] == 400
    assert told in problem["detail"]


def test_use_of_a_job_over_time(client: FlaskClient) -> None:
    """
    As a table for spreadsheets, and as the picture of its page.
    """
    asked = f"{BASE}/jobs/fox/777?format="
    lines = list(csv.DictReader(io.StringIO(client.get(f"{asked}csv").get_data(as_text=True))))
    assert len(lines) >= 8
    assert float(lines[0]["cores"]) > 0
    svg = client.get(f"{asked}svg")
    assert (svg.mimetype, b"cores busy" in svg.data) == ("image/svg+xml", True)
    assert client.get(f"{asked}png").data.startswith(b"\x89PNG")


def test_unknown_address_is_a_problem(client: FlaskClient) -> None:
    """
    A program is not answered with a page.
    """
    for address in (f"{BASE}/nowhere", f"{BASE}/", f"{BASE}/jobs/fox/999"):
        answer = client.get(address)
        assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")
    assert "/api/v1/openapi.json says what does" in client.get(f"{BASE}/nowhere").text


def test_api_is_only_read(client: FlaskClient) -> None:
    """
    Another method is refused with those there are; HEAD tells of an answer without it.
    """
    refused = client.post(f"{BASE}/usage", headers={"Origin": "http://localhost"})
    assert (refused.status_code, refused.mimetype) == (405, "application/problem+json")
    assert refused.headers["Allow"] == "GET, HEAD, OPTIONS"
    head, whole = client.head(f"{BASE}/usage"), client.get(f"{BASE}/usage")
    assert head.data == b""
    assert head.headers["ETag"] == whole.headers["ETag"]


@pytest.mark.parametrize(
    ("likes", "kind"),
    [
        ("text/csv", "text/csv"),
        ("application/xml, text/csv;q=0.5", "text/csv"),
        ("text/html, */*;q=0.8", "application/json"),
        ("application/xml", "application/json"),
        ("", "application/json"),
    ],
)
def test_accept_chooses_the_form(client: FlaskClient, likes: str, kind: str) -> None:
    """
    Who names no format gets what the request likes best; a named one comes whatever is liked.
    """
    answer = client.get(f"{BASE}/usage", headers={"Accept": likes} if likes else {})
    assert answer.mimetype == kind
    assert "Accept" in answer.headers["Vary"]
    named = client.get(f"{BASE}/usage?format=json", headers={"Accept": likes})
    assert named.mimetype == "application/json"


def pieces(client: FlaskClient, address: str) -> Iterator[list[Any]]:
    """
    Every piece of a list, by its cursor and by its Link, which must be the same.
    """
    for _ in range(100):
        answer = client.get(address)
        document = answer.get_json()
        yield document["rows"]
        if document["next"] is None:
            assert "Link" not in answer.headers
            return
        link = answer.headers["Link"]
        assert document["next"] in link
        address = link.partition("<")[2].partition(">")[0]
    raise AssertionError("a list without an end")


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ("jobs?period=last+7+days", "run"),
        ("nodes?period=last+7+days", "node"),
        ("findings", "object"),
        ("allocations?all=1", "granted"),
    ],
)
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_pieces_make_the_whole(client: FlaskClient, asked: str, key: str, limit: int) -> None:
    """
    However a list is cut, each row is told once, in the same order.
    """
    sign = "&" if "?" in asked else "?"
    whole = client.get(f"{BASE}/{asked}{sign}limit=1000").get_json()["rows"]
    cut = list(pieces(client, f"{BASE}/{asked}{sign}limit={limit}"))
    assert [row[key] for piece in cut for row in piece] == [row[key] for row in whole]
    assert len(whole) > 0
    assert max(map(len, cut)) <= limit


@pytest.mark.parametrize("top", [1, 2, 1000])
@pytest.mark.parametrize(
    "asked",
    [
        {"by": "user", "and": "program"},
        {"by": "host", "and": "hour", "period": "last 24 hours"},
        {"by": "program", "order": "core_hours_used ascending", "measure": "core_hours_used,users"},
        {"by": "job"},
    ],
)
def test_pieces_of_usage_make_the_whole(
    client: FlaskClient, asked: dict[str, str], top: int
) -> None:
    """
    However few rows are told at once, each is told once, with its share, and the others of each
    piece are what follows it.
    """
    whole = client.get(f"{BASE}/usage?{urlencode({**asked, 'top': '1000'})}").get_json()
    rows, shares, parts, place = [], [], [], ""
    while place is not None:
        fields = {**asked, "top": str(top), "cursor": place}
        answer = client.get(f"{BASE}/usage?{urlencode(fields)}")
        found = answer.get_json()
        place = found["next"]
        assert place is None or place in answer.headers["Link"]
        assert found["total"] == whole["total"]
        rows += found["rows"]
        shares += found["shares"]
        parts.append((found["told_before"], found["others_count"]))
    assert len(whole["rows"]) > 2
    keys = whole["rows"][0].keys() - whole["units"].keys() - {"hour"}
    count = len({tuple(row[key] for key in keys) for row in rows})
    assert parts == [(n, max(0, count - n - top)) for n in range(0, count, top)]
    assert sorted(map(str, rows)) == sorted(map(str, whole["rows"]))
    if "hour" not in asked.values():
        assert (rows, shares) == (whole["rows"], whole["shares"])


def test_runs_that_ended_at_once_are_told_once() -> None:
    """
    Ten runs of one array end in the same moment: pieces of three neither repeat nor lose one, nor
    does one that ends meanwhile.
    """
    store = MemoryStore()
    moment = NOW - timedelta(hours=3)
    store.write([job(moment, number) for number in range(10)], "create")
    client = create_app(site_of(store)).test_client()
    seen = []
    for piece in pieces(client, f"{BASE}/jobs?limit=3"):
        seen += [row["job"] for row in piece]
        store.write([job(NOW - timedelta(minutes=1), 50 + len(seen))], "create")
    assert sorted(seen) == sorted(f"fox/{number}" for number in range(10))


def test_runs_that_run_are_told_once() -> None:
    """
    What runs comes in pieces as well, those that began last first.
    """
    store = MemoryStore()
    began = [job(NOW, number) for number in range(7)]
    for number, one in enumerate(began):
        del one["job.end"]
        one["job.start"] = (NOW - timedelta(hours=number // 3 + 1)).isoformat()
    store.write(began, "create")
    client = create_app(site_of(store)).test_client()
    seen = list(pieces(client, f"{BASE}/jobs?period=now&limit=2"))
    assert [row["job"] for piece in seen for row in piece] == [f"fox/{n}" for n in range(7)]
    assert [len(piece) for piece in seen] == [2, 2, 2, 1]


def test_hits_stand_where_they_stood() -> None:
    """
    Command lines are told once each, however the ranking changes while they are read; a cursor of
    another day is refused, as one that is to come.
    """
    store = MemoryStore()
    for number in range(7):
        line = f"gmx mdrun -s {number}"
        used = {"process.command_line": line, "core_seconds": 1000.0 * number}
        store.write([process(NOW - timedelta(hours=2), number, **used)], "create")
    client = create_app(site_of(store)).test_client()
    seen: list[str] = []
    place: str | None = ""
    while place is not None:
        answer = client.get(f"{BASE}/search?words=gmx&limit=3&cursor={place}")
        found = answer.get_json()
        assert (found["next"] or "") in answer.headers.get("Link", "")
        seen += [hit["command_line"] for hit in found["hits"]]
        place = found["next"]
        late = {"process.command_line": "gmx mdrun -s 0", "core_seconds": 9e9}
        store.write([process(NOW + timedelta(seconds=len(seen)), 90 + len(seen), **late)], "create")
    assert seen == [f"gmx mdrun -s {number}" for number in (6, 5, 4, 3, 2, 1, 0)]
    for moment in ("2026-11-19T12:00:00.000Z", "2026-11-21T12:10:00.000Z", "never"):
        asked = f"{BASE}/search?words=gmx&cursor={cursor((moment, 3))}"
        assert client.get(asked).status_code == 400


def test_constants_of_the_site(client: FlaskClient) -> None:
    """
    Grants by day, figures from the settings, and the machine that was seen.
    """
    found = client.get(f"{BASE}/constants").get_json()
    assert found["constants"]["students"]["value"] == 2400
    core, gpu = found["grants"]
    assert (core["project"], core["measure"]) == ("chem", "core_hours_allocated")
    assert core["hours_per_day"] == pytest.approx(10)
    assert (gpu["project"], gpu["hours"]) == (None, 2 * 8760)
    (fox,) = found["clusters"]
    assert (fox["cluster"], fox["nodes"], fox["cores"]) == ("fox", 3, 192)
    assert fox["gpus"] == {"A100": 1}


def test_grants_of_projects_are_not_told_to_the_public(app: Flask) -> None:
    """
    Who may see totals only learns what the cluster was granted, not who.
    """
    site = replace(app.extensions["leadline"].site, scope=Scope(totals_only=True))
    found = create_app(site).test_client().get(f"{BASE}/constants").get_json()
    assert [grant["project"] for grant in found["grants"]] == [None]


def test_grants_of_projects_are_told_to_who_works_for_them(app: Flask) -> None:
    """
    A user learns of the grants of her own projects, and of those of the whole cluster.
    """
    store = MemoryStore()
    store.write([job(NOW - timedelta(hours=2), 4, **{"project": "chem"})], "create")
    site = replace(app.extensions["leadline"].site, open=lambda: store)
    for user, known in (("alice", ["chem", None]), ("bjorn", [None])):
        seen = replace(site, scope=Scope(users=frozenset({user})))
        found = create_app(seen).test_client().get(f"{BASE}/constants").get_json()
        assert [grant["project"] for grant in found["grants"]] == known


@pytest.mark.parametrize(("typed", "first"), [("BJ", "bjorn"), ("ic", "alice")])
def test_values_complete_what_is_typed(client: FlaskClient, typed: str, first: str) -> None:
    """
    Names that begin with it come first, then those that hold it.
    """
    asked = f"{BASE}/values?dimension=user&starts={typed}"
    assert client.get(asked).get_json()["values"][0] == first
