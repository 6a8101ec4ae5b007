"""
One question, asked on the command line, on a page and of the API: one answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from leadline.commands import cli
from leadline.query import measure
from leadline.render import number
from leadline.store.lake import LakeStore
from leadline.web import Site, create_app
from tests.web.conftest import NOW, week

DAYS = "during 2026-11-15..2026-11-20"
QUESTIONS = (
    f"core_hours_used by user {DAYS} top 3",
    f"core_hours_used by program {DAYS} top 10",
    f"core_hours_used, users by group {DAYS} top 10",
    f"memory_max, memory_mean by program {DAYS} top 2",
    f"samples by host {DAYS} top 10 order samples ascending",
    f"users by day {DAYS} top 10",
    f"core_hours_used by user, program {DAYS} top 5",
    f"core_hours_used by user where program=VASP {DAYS} top 10",
    f"core_hours_used by user where program!=VASP|GROMACS {DAYS} top 10",
    f"core_hours_used by user where program=(none) {DAYS} top 10",
    f"jobs, wait_median, run_time_p90 by user {DAYS} top 2",
    f"cpu_efficiency, memory_efficiency by state {DAYS} top 10",
    f"core_hours_ended, core_hours_wasted by size {DAYS} top 10",
    f"jobs_running by user {DAYS} top 10",
    "core_hours_used by user during 1999 top 10",
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("same") / "lake"
    store = LakeStore(folder)
    assert not store.write(week(), "create").rejected
    store.close()
    return folder


@pytest.fixture(scope="module")
def pages(lake: Path) -> Iterator[FlaskClient]:
    store = LakeStore(lake)
    site = Site(open=lambda: store, zone=ZoneInfo("UTC"), clock=lambda: NOW)
    yield create_app(site).test_client()
    store.close()


def printed(lake: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, ["--store", f"lake:{lake}", "usage", *words, "--zone", "UTC"])
    assert 0 == done.exit_code, done.output
    return done.stdout


@pytest.mark.parametrize("asked", QUESTIONS)
def test_command_line_page_and_api_say_the_same(lake: Path, pages: FlaskClient, asked: str) -> None:
    """
    Rows, others and total to the last digit from the API; on paper and on the page as people read
    them, each row with its figures.
    """
    told: dict[str, Any] = json.loads(printed(lake, asked, "--format", "json"))
    sent = json.loads(pages.get(f"/api/v1/usage?{urlencode({'q': asked})}").data)
    for part in ("rows", "others", "others_count", "total", "units", "coverage", "question"):
        assert told[part] == sent[part], part

    page = pages.get(f"/usage?{urlencode({'q': asked})}").get_data(as_text=True)
    cells = re.findall(r'<td class="n">([^<]*)</td>', page)
    paper = printed(lake, asked, "--format", "markdown")
    for name, value in figures(told):
        assert f"| {number(value, measure(name).unit)} |" in paper
        if measure(name).unit in ("", "hours", "percent"):  # pages write 597 MiB and 5 min
            shown = number(value, measure(name).unit)
            assert {shown, f"{shown}\N{NO-BREAK SPACE}%", f"{shown} %"} & set(cells), shown


def figures(told: dict[str, Any]) -> Iterator[tuple[str, float | None]]:
    """
    Every figure of an answer that has rows, others and total among them.
    """
    names = list(told["units"])
    for row in (*told["rows"], told["others"], told["total"]) if told["rows"] else ():
        if isinstance(row, dict):
            yield from ((name, row[name]) for name in names)
        elif row is not None:
            yield names[0], row
