"""
A month's report: the figures the questions give, in one file that needs nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from leadline.errors import LeadlineError, QuestionError
from leadline.formats import Document
from leadline.query import parse_filters
from leadline.reports.grants import read_grants
from leadline.reports.monthly import Desk, Report, change, make
from leadline.reports.monthly_page import as_html, as_pdf, as_text
from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.store.scope import EVERYTHING, Scope
from tests.needs import chromium
from tests.query.conftest import ZONE, heartbeat, sample, stored

HOSTILE = "<script src=//evil>"
FIRST = datetime(2026, 11, 1, 8, tzinfo=UTC)


def hours(count: int, month: str, first: int = 0, **fields: object) -> list[Document]:
    found = []
    for number in range(count):
        day = f"{month}-{1 + number % 28:02d}"
        time = {"@timestamp": f"{day}T11:00:00.000Z", "local.day": day}
        found.append(sample(first + number, **{"project": "chem-1", **time, **fields}))
    return found


def report(
    about: str = "project=chem-1",
    period: str = "2026-10",
    scope: Scope = EVERYTHING,
    late: Sequence[Document] = (),
    **more: Any,
) -> Report:
    store = stored(
        [
            *hours(60, "2026-10", **{"user.name": "alice", "program.name": "VASP"}),
            *hours(20, "2026-10", 100, **{"user.name": HOSTILE, "program.name": "GROMACS"}),
            *hours(40, "2026-09", 200, **{"user.name": "alice"}),
            *hours(30, "2026-10", 300, project="other", **{"user.name": "carl"}),
            *late,
            heartbeat("c1-1", "2026-10-05T11:00:00.000Z"),
            heartbeat("c1-1", "2026-09-05T11:00:00.000Z"),
        ]
    )
    desk = Desk(store=store, scope=scope, now=FIRST, zone=ZONE, **more)
    return make(desk, parse_filters(about), period)


def test_the_answer_comes_first() -> None:
    """
    How much, against the month before, and where most of it went.
    """
    said = report().sentence
    assert (
        "Project chem-1 used 80 core hours in October 2026, 100 % more than in September 2026"
        in said
    )
    assert said.endswith("75 % of them: VASP.")


def test_a_month_that_is_not_over_is_not_compared() -> None:
    """
    A morning of November is not less than all October.
    """
    early = {"@timestamp": "2026-11-01T07:00:00.000Z", "local.day": "2026-11-01"}
    made = report(period="2026-11", late=[sample(500, project="chem-1", **early)])
    assert "used 1.0 core hours in November 2026" in made.sentence
    assert "October" not in made.sentence
    assert {row["change"] for row in made.figures.rows} == {""}


def test_figures_are_those_of_the_questions() -> None:
    """
    Only the subject's; what was not measured is named and never a zero.
    """
    made = report()
    rows = {row["figure"]: row for row in made.figures.rows}
    assert ("80", "40", "+100 %") == tuple(
        rows["Core hours used"][n] for n in ("value", "before", "change")
    )
    assert "2" == rows["Users"]["value"]
    assert "Jobs" not in rows
    assert any("energy" in note for note in made.notes)
    assert ["program", "user"] == [part.answer.question.by[0] for part in made.parts]


def test_file_fetches_nothing_and_runs_nothing() -> None:
    """
    It is mailed and kept for years: no address, no script, whatever people called themselves.
    """
    page = as_html(report())
    assert 2 == page.count("<svg")
    assert "<script" not in page
    assert "&lt;script src=//evil&gt;" in page
    assert set() == attributes(page) & {"src", "href", "xlink:href", "srcset", "data", "action"}
    assert "url(" not in page
    assert "@import" not in page


def attributes(page: str) -> set[str]:
    found: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.update(name for name, _ in attrs)

    Reader().feed(page)
    assert "class" in found
    return found


def test_words_and_date_are_frozen_in_it() -> None:
    """
    Who reads it in three years knows what a figure meant and as of when it was true.
    """
    made = report()
    for text in (as_html(made), as_text(made)):
        assert "Figures as of 2026-11-01 09:00 CET, newest sample 2026-10-05 13:00 CEST" in text
    assert "CPU time that sampled processes used" in as_html(made)


def test_measures_that_know_nothing_of_a_filter_stay_out() -> None:
    """
    Accounting has no programs: a report on one has no jobs, and is no error.
    """
    made = report("program=VASP")
    assert "Program VASP used 60 core hours" in made.sentence
    assert "Jobs" not in {row["figure"] for row in made.figures.rows}


def test_nothing_measured_says_so() -> None:
    """
    An empty report is a sentence, not an empty table.
    """
    made = report("project=NN-nobody")
    assert "Nothing was measured of project NN-nobody in October 2026." == made.sentence
    assert "<table" not in as_html(made)


def test_what_cannot_be_reported_on_is_refused() -> None:
    """
    A dimension nobody knows is a slip of the finger, too, and no empty report.
    """
    with pytest.raises(QuestionError, match="do you mean user"):
        report("usr=alice")


def test_dates_are_told_however_the_period_was_asked_for() -> None:
    """
    Who reads it next year finds days, not `last 30 days`.
    """
    made = report("project=chem-1", "2026-10-01..2026-10-10")
    assert "core hours from 2026-10-01 to 2026-10-10" in made.sentence
    heads = [column.title for column in made.figures.columns]
    assert heads[1:3] == ["2026-10-01 to 2026-10-10", "2026-09-21 to 2026-09-30"]


def test_a_period_to_come_is_refused() -> None:
    """
    A slip of the finger is no empty report.
    """
    with pytest.raises(QuestionError, match="has not begun"):
        report(period="2027-10")


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        (112.0, 100.0, "+12 %"),
        (97.0, 100.0, "−3 %"),
        (100.2, 100.0, "0 %"),
        (None, 5.0, ""),
        (5.0, None, ""),
        (5.0, 0.0, ""),
        (900.0, 1.0, ""),
    ],
)
def test_change_is_said_where_there_is_one(
    now: float | None, before: float | None, said: str
) -> None:
    """
    Nothing before, or next to nothing, makes no percentage.
    """
    assert said == change(now, before)


def test_pdf_is_printed_by_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Where there is one; else one line says what is missing.
    """
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LeadlineError, match="needs Chromium"):
        as_pdf(report())


@pytest.mark.browser
def test_pdf_holds_pages() -> None:
    """
    The browser's own work, once.
    """
    chromium()
    made = as_pdf(report())
    assert made.startswith(b"%PDF-")
    assert b"/Page" in made


def granted(**more: object) -> Report:
    settings = AllocationSettings(
        grants=(
            GrantSettings(
                period="2026-10-01..2027-03-31", project="chem-1", core_hours=200, charge="used"
            ),
            GrantSettings(period="2026", project="other", core_hours=9, charge="used"),
            GrantSettings(period="2026", core_hours=1000, charge="used", note="all"),
        )
    )
    grants = read_grants(settings, FIRST, lambda _name: ZONE)
    return report(grants=grants, allocations=settings, **more)  # type: ignore[arg-type]


def test_grants_of_the_project_are_told_as_of_the_end_of_the_month() -> None:
    """
    What was used and is left by then, not by now, as a table and drawn against what was granted;
    other projects' grants are no matter of this report.
    """
    known = granted(late=hours(30, "2026-11", 900)).grants
    assert known is not None
    (row,) = known.table.rows
    assert (200, 80, 120) == tuple(row[name] for name in ("granted", "used", "left"))
    assert row["grant"] == "chem-1, core hours, 2026-10-01 – 2027-03-31"
    assert row["share"] == pytest.approx(40.0)
    assert row["elapsed"] == pytest.approx(100 * 31 / 182, abs=0.1)
    assert known.title == "Grants, as of 2026-10-31"
    assert known.picture.count("<svg") == 1
    page = as_html(granted())
    for word in ("granted", "used", "left", "Even pace", "At the end", "Grants, as of 2026-10-31"):
        assert word in page
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", page)
    assert "chem-1" in as_text(granted()).partition("Grants, as of")[2]


def test_only_whole_subjects_have_grants() -> None:
    """
    A report on everybody tells what was granted to all together; one on a user tells of no grant.
    """
    known = granted(about="").grants
    assert known is not None
    assert ["all projects, core hours, 2026-01-01 – 2026-12-31"] == [
        row["grant"] for row in known.table.rows
    ]
    assert granted(about="project=chem-1, user=alice").grants is None
    assert granted(period="2025-10").grants is None
