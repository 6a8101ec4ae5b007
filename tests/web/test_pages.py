"""The pages without a browser: what they say, and what they never do."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient

from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.headers import HEADERS
from tests.web.conftest import HOSTILE, NOW, process, site_of

PAGES = (
    "/",
    "/usage",
    "/usage?by=user",
    "/usage?by=program&and=host&measure=memory_max",
    "/jobs",
    "/jobs/fox/100",
    "/programs",
    "/users",
    "/nodes",
    "/search",
    "/search?words=gmx",
    "/data",
)


def text_of(client: FlaskClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_data(as_text=True)


def usage(**fields: str) -> str:
    return f"/usage?{urlencode(fields)}"


def test_overview_tells_now_last_hour_and_month(client: FlaskClient) -> None:
    """
    The first page has the figures of now, tables of the last hour and of the last thirty days.
    """
    page = text_of(client, "/")
    assert "What runs on fox" in page
    assert "90 <small>of 192</small>" in page  # 3 nodes, 30 of 64 cores busy
    assert page.count("<table>") == 6
    assert page.count('class="chart"') == 1


def test_usage_table_adds_up_to_the_total(client: FlaskClient) -> None:
    """
    Rows and others make the total, in the table as in the API.
    """
    answer = client.get("/api/v1/usage?by=program&top=2&period=all").get_json()
    parts = [row["core_hours_used"] for row in answer["rows"]]
    assert len(answer["rows"]) == 2
    assert sum(parts) + answer["others"] == pytest.approx(answer["total"])
    page = text_of(client, usage(by="program", top="2", period="all"))
    assert f"{answer['total']:,.0f}" in page
    assert "others (3)" in page


def test_title_says_the_question(client: FlaskClient) -> None:
    """
    The heading is the question in words.
    """
    asked = usage(measure="memory_max", by="user", where="cluster=fox", period="2026-11")
    assert "<h1>Max memory by user on fox, 1–30 November 2026</h1>" in text_of(client, asked)


def test_form_shows_what_is_asked(client: FlaskClient) -> None:
    """
    Every part of the question stands in the form, ready to be changed.
    """
    page = text_of(client, usage(measure="users", by="host", where="user=alice", top="3"))
    assert '<option value="users" selected>' in page
    assert '<option value="host" selected>' in page
    assert 'value="user=alice"' in page
    assert 'value="3"' in page


def test_a_row_leads_one_step_down(client: FlaskClient) -> None:
    """
    The name of a program leads to its users, with the program as a filter.
    """
    page = text_of(client, usage(by="program", period="last 7 days"))
    href = next(h for h in re.findall(r'href="([^"]+)"', page) if "program%3DVASP" in h)
    below = text_of(client, href.replace("&amp;", "&"))
    assert "by user, program VASP" in below
    assert "without" in below  # the filter can be taken away again


def test_whole_question_in_one_line(client: FlaskClient) -> None:
    """
    `q` takes the text form of a question.
    """
    line = "users by program during last 7 days top 3"
    assert "Users by program, last 7 days" in text_of(client, usage(q=line))


@pytest.mark.parametrize("address", [*PAGES, "/usage?top=0", "/nowhere", "/healthz"])
def test_every_answer_is_guarded(client: FlaskClient, address: str) -> None:
    """
    Pages and errors alike carry the security headers, and no page holds a script within itself.
    """
    answer = client.get(address)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    scripts = re.findall(rb"<script[^>]*>[^<]*", answer.data)
    ours = rb'<script type="module" src="/static/leadline\.js\?v=[^"]+">'
    assert all(re.fullmatch(ours, script) for script in scripts)
    assert not re.search(rb"\son\w+=|style=", answer.data)


@pytest.mark.parametrize("address", PAGES)
def test_hostile_names_are_only_text(client: FlaskClient, address: str) -> None:
    """
    A user name that is a script is shown as it is written, in tables, charts and links.
    """
    page = text_of(client, address)
    assert HOSTILE not in page
    if "user" in address:
        assert "&lt;script&gt;" in page


def test_very_long_names_do_not_break_the_page() -> None:
    """
    A program name of two thousand characters is cut where it is shown.
    """
    store = MemoryStore()
    store.write([process(NOW - timedelta(minutes=9), 1, **{"program.name": "x" * 2000})], "create")
    page = text_of(create_app(site_of(store)).test_client(), "/usage")
    assert "x" * 100 in page
    cells = re.findall(r">(x+…?)<", page)
    assert max(map(len, cells)) <= 160


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("/usage?measure=core_hour_used", "do you mean core_hours_used?"),
        ("/usage?by=progam", "do you mean program?"),
        ("/usage?period=sometime", "is unknown; write"),
        ("/usage?top=many", "write a number from 1 to 1000"),
        ("/usage?where=user", "write <code>where user=alice"),
    ],
)
def test_bad_questions_get_one_clear_line(client: FlaskClient, address: str, told: str) -> None:
    """
    What cannot be asked is refused with what, where and the way out, as a page.
    """
    answer = client.get(address)
    assert answer.status_code == 400
    page = answer.get_data(as_text=True)
    assert "That cannot be asked" in page
    assert told in page.replace("&#39;", "'")
    assert "Traceback" not in page


def test_unknown_page_and_overlong_question(client: FlaskClient) -> None:
    """
    404 and 414 are pages of ours as well.
    """
    assert "No such page" in client.get("/nowhere").get_data(as_text=True)
    assert client.get("/usage?where=" + "x" * 5000).status_code == 414


def test_empty_store_says_what_to_do(empty_client: FlaskClient) -> None:
    """
    Before the first sample, pages say where samples come from and how to see a demo.
    """
    page = text_of(empty_client, "/")
    assert "No sample has come in yet." in page
    assert "leadline up --demo" in page
    assert "No sample has come in yet." in text_of(empty_client, "/usage")


def test_silent_cluster_says_since_when(store: MemoryStore) -> None:
    """
    Three days after the last sample the overview tells since when, not a chart of nothing.
    """
    client = create_app(site_of(store, NOW + timedelta(days=3))).test_client()
    page = text_of(client, "/")
    assert "No samples for the last 3 days" in page
    assert "leadline status" in page
    assert "No samples: last 24 hours." in text_of(client, usage(period="last 24 hours"))


def test_filters_that_match_nothing_say_so(client: FlaskClient) -> None:
    """
    A filter nobody matches is named as the reason.
    """
    assert "Nothing matches these filters" in text_of(client, usage(where="user=nobody"))


def test_csv_is_safe_for_spreadsheets() -> None:
    """
    A name that begins as a formula does is written as text.
    """
    store = MemoryStore()
    evil = {"user.name": '=HYPERLINK("http://x")'}
    store.write([process(NOW - timedelta(minutes=9), 1, **evil)], "create")
    client = create_app(site_of(store)).test_client()
    lines = client.get("/api/v1/usage?by=user&format=csv").get_data(as_text=True).splitlines()
    assert lines[0].startswith("user,core_hours_used")
    assert lines[1].startswith("\"'=HYPERLINK")


def test_exports_are_pictures(client: FlaskClient) -> None:
    """
    The same question as SVG and PNG.
    """
    svg = client.get("/usage.svg?by=program&period=last+7+days")
    assert svg.mimetype == "image/svg+xml"
    assert b"GROMACS" in svg.data
    png = client.get("/usage.png?by=user&measure=memory_max")
    assert png.data.startswith(b"\x89PNG")


def test_style_sheet_is_small(client: FlaskClient) -> None:
    """
    Own CSS stays under 15 KB.
    """
    sheet = client.get("/static/leadline.css")
    assert sheet.status_code == 200
    assert len(sheet.data) < 15_000


def test_pages_live_under_a_prefix(store: MemoryStore) -> None:
    """
    Behind a proxy at a path, links and the style sheet stay below that path.
    """
    from dataclasses import replace

    from leadline.web.settings import WebSettings

    site = replace(site_of(store), settings=WebSettings(prefix="/leadline"))
    page = create_app(site).test_client().get("/leadline/usage").get_data(as_text=True)
    hrefs = [href for href in re.findall(r'href="([^"#]+)"', page) if href.startswith("/")]
    assert hrefs
    assert all(href.startswith("/leadline/") for href in hrefs)


def test_search_finds_command_lines(client: FlaskClient) -> None:
    """
    Words find command lines, ranked, with a link to who runs that program.
    """
    page = text_of(client, "/search?words=mdrun&period=last+7+days")
    assert "1 distinct command line matches" in page
    assert "gmx mdrun -deffnm" in page
    assert "program%3DGROMACS" in page
    assert "No command line holds these words: last 7 days." in text_of(
        client, "/search?words=nothing&period=last+7+days"
    )


def test_search_shows_markup_as_text(client: FlaskClient) -> None:
    """
    What was searched for stands in the page as text.
    """
    page = text_of(client, "/search?words=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E")
    assert "<img" not in page
    assert "&lt;img" in page


def test_nodes_page_tells_the_silent_ones(store: MemoryStore) -> None:
    """
    A node that was there yesterday and is not now stands first, with its last sample.
    """
    from tests.web.conftest import node

    own = MemoryStore()
    own.write(
        [node(NOW - timedelta(minutes=20), "c1-10"), node(NOW - timedelta(minutes=20), "c1-9")],
        "create",
    )
    own.write([node(NOW - timedelta(days=1), "c1-7")], "create")
    page = text_of(create_app(site_of(own)).test_client(), "/nodes")
    assert "2 nodes sent samples within the last hour; c1-7 is silent." in page
    assert page.index("c1-9") < page.index("c1-10")


def test_data_page_tells_what_is_kept(client: FlaskClient) -> None:
    """
    Every dataset with its documents, and the share of hours that no rule names.
    """
    page = text_of(client, "/data")
    assert "process" in page
    assert "commands no rule names" in page


@pytest.mark.parametrize("address", ["/nodes", "/data", "/programs", "/search?words=x"])
def test_pages_of_an_empty_store_say_what_to_do(empty_client: FlaskClient, address: str) -> None:
    """
    Before the first sample every page says where samples come from.
    """
    assert "No sample has come in yet." in text_of(empty_client, address)


def test_jobs_of_a_day_lead_to_each(client: FlaskClient) -> None:
    """
    Runs that ended are listed, the newest first, each with its page; filters work as elsewhere.
    """
    page = text_of(client, "/jobs")
    assert "24 runs, the newest first." in page
    assert page.index("fox/100") < page.index("fox/110")
    assert 'href="/jobs/fox/100"' in page
    failed = text_of(client, "/jobs?where=state%3DFAILED")
    assert "8 runs" in failed
    assert "No job ended: last 24 hours. Remove a filter" in text_of(client, "/jobs?where=user%3Dx")


def test_job_page_tells_asked_and_used(client: FlaskClient) -> None:
    """
    A job that used one core of eight and four GiB of 64 is told so, with the remedy.
    """
    page = text_of(client, "/jobs/fox/100")
    assert "completed after 05:00 of 10:00 asked" in page
    assert "12 %" in page  # one of eight cores
    assert "<code>--mem=" in page
    assert "&lt;i&gt;run 100&lt;/i&gt;" in page


def test_job_nobody_knows_is_refused_in_one_line(client: FlaskClient) -> None:
    """
    An unknown id says how ids are written.
    """
    answer = client.get("/jobs/fox/999999")
    assert answer.status_code == 404
    assert "neither sampled nor accounted" in answer.get_data(as_text=True)


def test_hours_and_weekdays_come_in_their_own_order(client: FlaskClient) -> None:
    """
    By weekday and hour the table starts on Monday at midnight and the picture is a heat map.
    """
    page = text_of(client, usage(by="weekday", **{"and": "hour_of_day"}, period="all"))
    cells = re.findall(r">([A-Z][a-z]+day|\d\d–\d\d)</a>", page)
    assert cells[:2] == ["00–01", "01–02"]
    assert cells[24:26] == ["Monday", "Tuesday"]
    assert "mark-rect" in page
    assert "greatest part" not in page


def test_durations_are_told_as_durations(client: FlaskClient) -> None:
    """
    A wait of 300 seconds is five minutes, in the sentence and in the table.
    """
    page = text_of(client, usage(by="user", measure="wait_median", period="last 7 days"))
    assert "Wait, median: 00:05." in page
    assert '<td class="n">00:05</td>' in page


@pytest.mark.parametrize("name", ["node", "account", "queue"])
def test_other_spellings_are_understood(client: FlaskClient, name: str) -> None:
    """
    Who writes node for host, account for project or queue for partition gets a page.
    """
    assert client.get(usage(by=name, period="all")).status_code == 200


def test_what_does_not_add_up_is_drawn_as_lines(client: FlaskClient) -> None:
    """
    The greatest memory of each user by day is a line each, never a stack.
    """
    asked = usage(by="user", **{"and": "day"}, measure="memory_max", period="last 7 days")
    page = text_of(client, asked)
    assert "mark-line" in page
    assert "mark-area" not in page


def test_many_rows_of_two_keys_are_a_table_of_two_ways(client: FlaskClient) -> None:
    """
    Weekdays stand down and hours across, and the sums of the rows make the total.
    """
    both = usage(by="weekday", **{"and": "hour_of_day"}, period="all", measure="samples")
    crossed = text_of(client, both)
    rows = re.findall(r"<tr><td class=\"name\">.*?</tr>", crossed)
    assert len(rows) == 7
    sums = [re.findall(r'class="n">([\d,]+)<', row) for row in rows]
    whole = client.get("/api/v1/usage?by=&period=all&measure=samples").get_json()["total"]
    assert sum(int(figures[-1].replace(",", "")) for figures in sums) == whole
    assert all(len(figures) == 25 for figures in sums)


def test_nothing_used_while_somebody_looked_is_zero(client: FlaskClient) -> None:
    """
    In a heat map of users by day nobody is hatched who only used nothing on a day of others.
    """
    page = text_of(client, usage(by="user", picture="heat", period="last 7 days"))
    assert "url(#hatch)" not in page
    assert page.count('aria-roledescription="rect') >= 4 * 7
