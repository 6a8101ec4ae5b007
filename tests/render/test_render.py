"""
What is printed steers no terminal, starts no formula, breaks no line, and fits.
"""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.render import (
    Column,
    Table,
    bar,
    duration,
    number,
    render,
    safe_cell,
    safe_text,
)
from leadline.render.text import paragraphs, sparkline, width_of

COLUMNS = (
    Column("program", "Program"),
    Column("hours", "core hours", "hours", bars=True),
    Column("memory", "mean memory", "bytes"),
)
TABLE = Table(
    COLUMNS,
    (
        {"program": "=cmd|' /C calc'!A0", "hours": 1234.5, "memory": None},
        {"program": None, "hours": 0.25, "memory": 3 * 2**30},
        {"program": "\x1b[2Jevil\nname", "hours": 12.0, "memory": 2**20},
    ),
    ({}, {"program": "unmatched"}, {}),
    ({"program": "total", "hours": 1246.75, "memory": None},),
)


@given(st.text())
def test_safe_text_is_printable(text: str) -> None:
    """
    Nothing that steers a terminal or breaks a line is left.
    """
    shown = safe_text(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)
    assert not set(shown) & set("\u202e\u200b\u2028\ufeff")
    shown.encode()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_no_cell_is_a_formula(text: str) -> None:
    """
    What a spreadsheet would calculate is led by an apostrophe.
    """
    assert safe_cell(text).startswith("'")


def test_csv_reads_back() -> None:
    """
    Raw figures under plain names; absence is empty; every row on its line.
    """
    rows = list(csv.DictReader(io.StringIO(render(TABLE, "csv"))))
    assert ["'=cmd|' /C calc'!A0", "", "\\x1b[2Jevil\\nname"] == [r["program"] for r in rows]
    assert ["1234.5", "0.25", "12.0"] == [row["hours"] for row in rows]
    assert "" == rows[0]["memory"]


def test_tsv_keeps_its_columns() -> None:
    """
    Tabs and line ends within values are escaped, so that every line has as many fields.
    """
    lines = render(TABLE, "tsv").splitlines()
    assert {3} == {len(line.split("\t")) for line in lines}
    assert 4 == len(lines)


def test_table_for_people() -> None:
    """
    Numbers to the right with thousands apart, absence as –, labels for raw keys, a total below.
    """
    lines = render(TABLE, "table", width=80).splitlines()
    assert "Program" == lines[0].split()[0]
    assert "core hours" in lines[0]
    assert "mean memory [GiB]" in lines[0]
    assert "1,234" in lines[1]
    assert "–" in lines[1]
    assert "unmatched" in lines[2]
    assert lines[-1].startswith("total")
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("width", [24, 40, 80, 200])
def test_table_fits(width: int) -> None:
    """
    No line is wider than the terminal.
    """
    assert all(width_of(line) <= width for line in render(TABLE, "table", width=width).splitlines())


def test_markdown_stays_a_table() -> None:
    """
    A pipe within a name does not open a column.
    """
    lines = render(TABLE, "markdown").splitlines()
    assert "| --- | ---: | ---: |" == lines[1]
    assert all(4 == line.replace("\\|", "").count("|") for line in lines)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "hours", "–"),
        (0.0, "hours", "0.0"),
        (3.14, "hours", "3.1"),
        (9.97, "hours", "10"),
        (41230.4, "hours", "41,230"),
        (0.001, "hours", "0.001"),
        (2**30, "bytes", "1.0"),
        (1203, "", "1,203"),
        (34.66, "percent", "34.7"),
        (187800, "seconds", "2 d 04:10"),
    ],
)
def test_numbers(value: float | None, unit: str, text: str) -> None:
    """
    Below 10 one decimal, above whole; durations as days and clock; absence is no 0.
    """
    assert text == number(value, unit)


def test_durations_and_bars() -> None:
    """
    Seconds below a minute stay seconds; bars draw eighths; sparklines leave gaps.
    """
    assert "59 s" == duration(59)
    assert "01:00" == duration(3600)
    assert "██▌" == bar(0.5, 5)
    assert "" == bar(None, 5)
    assert "▁ █" == sparkline([0, None, 9])


def test_long_lines_go_on_below_themselves() -> None:
    """
    Nothing of a sentence is lost on a narrow terminal, and its point stays visible.
    """
    told = paragraphs(["  • one two three four five six", "short\x1b"], 20)
    assert told.splitlines() == ["  • one two three", "    four five six", "short\\x1b"]
    assert paragraphs(["x" * 200]) == "x" * 200


WIDE = Table(
    (
        Column("user", "User"),
        Column("used", "core hours used", "hours"),
        Column("memory", "max memory", "bytes"),
        Column("jobs", "jobs seen", ""),
        Column("why", "Evidence"),
    ),
    ({"user": "alice", "used": 1.5, "memory": 2**30, "jobs": 64.0, "why": "far too long " * 9},),
)


def test_heads_take_more_lines_before_a_column_is_left_out() -> None:
    """
    On a narrow terminal words of a head stand above each other, its unit whole.
    """
    lines = render(WIDE, "table", width=60).splitlines()
    assert ["core", "max"] == lines[0].split()
    assert ["hours", "memory", "jobs"] == lines[1].split()
    assert ["User", "used", "[GiB]", "seen", "Evidence"] == lines[2].split()


def test_what_is_left_out_is_named() -> None:
    """
    A long text keeps enough to say something, or its column is named below.
    """
    text = render(WIDE, "table", width=30)
    assert "far" not in text
    assert text.endswith("Too narrow to show Evidence.")
    assert "Too narrow" not in render(WIDE, "table", width=200)


def test_counts_are_whole_in_tables_for_programs() -> None:
    """
    64 cores are 64 in a spreadsheet, whatever they were added up from; hours stay as they are.
    """
    assert "alice,1.5,1073741824,64," in render(WIDE, "csv")
    assert "alice\t1.5\t1073741824\t64\t" in render(WIDE, "tsv")


@pytest.mark.parametrize("width", [24, 40, 60, 80])
def test_sentences_stand_below_where_they_find_no_room(width: int) -> None:
    """
    Evidence and remedy are never cut: beside their row where it is wide enough, else under it.
    """
    columns = (
        Column("kind", "Finding"),
        Column("hours", "hours", "hours"),
        Column("evidence", "Evidence", below=True),
        Column("remedy", "Remedy", below=True),
    )
    said = {"evidence": "51 % of 2,631 core hours used", "remedy": "scancel 1234567 ends it"}
    text = render(Table(columns, ({"kind": "idle", "hours": 9.5, **said},)), "table", width=width)
    assert all(width_of(line) <= width for line in text.splitlines())
    assert "51 % of 2,631 core hours used" in " ".join(text.split())
    assert "scancel 1234567 ends it" in " ".join(text.split())
    assert "…" not in text
    assert "Too narrow" not in text


def test_columns_without_a_figure_go_first() -> None:
    """
    No card anywhere: what stands behind is shown instead, and both are told apart from nothing.
    """
    columns = (
        Column("job", "Job"),
        Column("gpus", "GPUs used", ""),
        Column("core_hours", "hours", ""),
    )
    rows = ({"job": "fox/1234567", "gpus": None, "core_hours": 41230},)
    text = render(Table(columns, rows), "table", width=20)
    assert "41,230" in text
    assert "Nothing in GPUs\n  used." in text


def test_no_figure_is_parted_from_its_unit() -> None:
    """
    A line goes on below before or after `2 d 04:10`, `12 GiB` and `51 %`, never within.
    """
    for figure in ("2 d 04:10", "12 GiB", "51 %", "900 s"):
        for lead in range(8, 24):
            text = paragraphs([f"{'x' * lead} {figure} asked for it all"], 24)
            assert figure in text


def test_others_give_way_to_the_answer() -> None:
    """
    What a table is read for stays, whatever stands before it; bars begin below each other.
    """
    columns = (
        Column("project", "Project"),
        Column("used", "used", "", bars=True),
        Column("left", "left", ""),
        Column("verdict", "Verdict", answer=True),
        Column("day", "Used up"),
    )
    rows = (
        {"project": "nn1", "used": 10, "left": 990, "verdict": "on course", "day": None},
        {"project": "nn2", "used": 90, "left": 910, "verdict": "will run out", "day": "2026-12-13"},
    )
    narrow = render(Table(columns, rows), "table", width=30)
    assert ["nn1        10  on course", "nn2        90  will run out"] == narrow.splitlines()[1:3]
    assert "Too narrow to show left, Used\n  up." in narrow
    wide = render(Table(columns, rows), "table", width=80).splitlines()
    assert wide[1].index("█") == wide[2].index("█") == 47
