"""
`leadline usage` and `leadline search` on a small lake, in every form.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.store.lake import LakeStore
from tests.query.conftest import sample

HOURS = {"VASP": 3.0, "GROMACS": 1.0, None: 1.0}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("usage") / "lake"
    store = LakeStore(folder)
    programs = ["VASP", "VASP", "VASP", "GROMACS", None]
    documents = [
        sample(
            number,
            **{"user.name": "alice", "process.command_line": f"mpirun {program} run.in"},
            **({"program.name": program} if program else {}),
        )
        for number, program in enumerate(programs)
    ]
    assert 5 == store.write(documents, "create").accepted
    store.close()
    return folder


def leadline(lake: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["--store", f"lake:{lake}", *words], prog_name="leadline")


def test_json_is_what_scripts_rely_on(lake: Path) -> None:
    """
    Rows by dimension and measure, others, total and coverage, for every program.
    """
    done = leadline(
        lake, "usage", "--measure", "core_hours_used", "--by", "program", "--period", "all",
        "--format", "json",
    )  # fmt: skip
    said = json.loads(done.output)
    assert HOURS == {row["program"]: row["core_hours_used"] for row in said["rows"]}
    assert (None, 5.0, None) == (said["others"], said["total"], said["coverage"])


def test_options_and_words_ask_the_same(lake: Path) -> None:
    """
    The question in words and the question in options have one answer.
    """
    words = leadline(lake, "usage", "core_hours_used by program during all top 1")
    options = leadline(lake, "usage", "-b", "program", "-p", "all", "--top", "1")
    assert words.output == options.output
    assert "VASP" in words.output
    assert "others (2)" in words.output
    assert "Coverage not measured" in words.output


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "ndjson", "markdown"])
def test_every_form_names_the_programs(lake: Path, form: str) -> None:
    """
    Each form holds each program and its hours.
    """
    done = leadline(lake, "usage", "-b", "program", "-p", "all", "--format", form)
    assert 0 == done.exit_code
    assert "VASP" in done.output
    assert "3.0" in done.output


def test_rows_alone_say_their_units_beside_them(lake: Path) -> None:
    """
    A spreadsheet gets figures, and who looks on gets what they are counted in.
    """
    words = ("usage", "-m", "core_hours_used", "-m", "memory_max", "-b", "program", "-p", "all")
    done = leadline(lake, *words, "--format", "csv")
    assert "Units" not in done.stdout
    assert "core_hours_used in hours; share in percent; memory_max in bytes" in done.stderr


def test_an_empty_answer_says_why(lake: Path) -> None:
    """
    No row, no number: not measured, and where to look.
    """
    done = leadline(lake, "usage", "-b", "program", "-p", "1999")
    assert "not measured" in done.output
    assert "leadline status" in done.output


def test_search_finds_by_words(lake: Path) -> None:
    """
    Command lines by their words; nothing found ends with 1.
    """
    done = leadline(lake, "search", "vasp", "-p", "all", "--format", "json")
    said = json.loads(done.output)
    assert ["mpirun VASP run.in"] == [hit["command_line"] for hit in said["hits"]]
    assert 1 == leadline(lake, "search", "nowhere", "-p", "all").exit_code


def test_list_names_everything(lake: Path) -> None:
    """
    `--list` tells each measure with its sentence.
    """
    assert "core_hours_used" in leadline(lake, "usage", "--list").output


def test_the_sites_own_periods(lake: Path) -> None:
    """
    An allocation period named in the settings is asked by its name.
    """
    named = "periods.autumn=2026-11-20..2026-11-20"
    words = ("--set", named, "usage", "--by", "program", "-p", "autumn", "--format", "json")
    assert 5.0 == json.loads(leadline(lake, *words).output)["total"]


def test_a_chart_is_drawn_as_its_name_says(lake: Path, tmp_path: Path) -> None:
    """
    --chart draws the picture of the page as SVG or PNG beside the answer.
    """
    words = ("usage", "-b", "program", "-p", "all", "--chart")
    vector, dots = tmp_path / "a.svg", tmp_path / "a.png"
    done = leadline(lake, *words, str(vector))
    assert (0, True) == (done.exit_code, "VASP" in done.output)
    assert "VASP" in vector.read_text()
    assert 0 == leadline(lake, *words, str(dots)).exit_code
    assert dots.read_bytes().startswith(b"\x89PNG")
    refused = leadline(lake, *words, str(tmp_path / "a.jpeg"))
    assert (2, True) == (refused.exit_code, "name it .svg or .png" in refused.output)


def test_a_grant_is_drawn_into_the_chart(tmp_path: Path) -> None:
    """
    As on the page: a dashed line where what is drawn is what was granted.
    """
    path, lake = tmp_path / "a.svg", tmp_path / "lake"
    days = [f"2025-11-1{day}" for day in range(3)]
    store = LakeStore(lake)
    store.write(
        [
            sample(n, **{"@timestamp": f"{day}T10:00:00.000Z", "local.day": day})
            for n, day in enumerate(days)
        ],
        "create",
    )
    store.close()
    grant = "allocations.grants=[{period: 2025-11, core_hours: 100, charge: used}]"
    words = ("usage", "-b", "program", "-p", "2025-11", "--chart", str(path))
    assert 0 == leadline(lake, "--set", grant, *words).exit_code
    assert "granted: " in path.read_text()
    assert 0 == leadline(lake, *words).exit_code
    assert "granted: " not in path.read_text()


def test_nothing_to_draw_is_said(lake: Path, tmp_path: Path) -> None:
    """
    A single number is no picture, and no empty file is left; the number is told all the same.
    """
    path = tmp_path / "one.svg"
    done = leadline(lake, "usage", "-p", "all", "--chart", str(path))
    assert "nothing to draw" in str(done.exception)
    assert "Core hours used" in done.output
    assert not path.exists()


def test_bare_rows_leave_how_sure_to_the_standard_error(lake: Path) -> None:
    """
    CSV is rows and nothing else; what must be said with them is on the standard error.
    """
    done = leadline(lake, "usage", "-b", "program", "-p", "all", "--format", "csv")
    assert "Coverage not measured" in done.stderr
    assert 4 == len(done.stdout.splitlines())
