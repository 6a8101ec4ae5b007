"""
How commands end: the table in docs/questions.md, line by line.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leadline.commands import main
from leadline.formats.times import format_time
from leadline.store.lake import LakeStore
from tests.query.conftest import heartbeat, sample

DOCS = Path(__file__).parents[2] / "docs" / "questions.md"
SETTINGS = """\
allocations:
  grants:
    - {{project: dear, cluster: fox, period: "{year}", core_hours: 0.5, charge: used}}
"""
CODES = {
    0: (
        "usage",
        "usage -p 1999",
        "jobs",
        "findings -p 1999-01-01",
        "search vasp -p all",
        "job fox/7",
    ),
    1: (
        "search nowhere -p all",
        "job fox/99",
        "job fox/7 --states",
        "status",
        "programs lint bad.csv",
    ),
    2: (
        "usage --by nothing",
        "usage -p never",
        "usage --nope",
        "findings -p never",
        "nodes -p all",
        "job 7",
        "job fox/7 --states --scale",
        "jobs --running --pending",
        "jobs --every day",
        "nodes --gpus --by cluster",
        "nope",
        "--set nope=1 usage",
    ),
    3: ("findings", "allocations"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A job, a node that fell silent an hour ago, and a grant that is used up.
    """
    folder = tmp_path_factory.mktemp("site")
    ago = datetime.now(UTC) - timedelta(hours=1)
    lake = LakeStore(folder / "lake")
    known = {"job.id": "fox/7", "project": "dear", "process.command_line": "vasp"}
    beat = heartbeat("c1-1", format_time(ago), 60.0)
    lake.write([sample(1, **{**known, "@timestamp": format_time(ago)}), beat], "create")
    lake.close()
    (folder / "leadline.yaml").write_text(SETTINGS.format(year=ago.year))
    (folder / "bad.csv").write_text("pattern,program\nvasp,VASP\nvasp,Other\n")
    return folder


@pytest.fixture
def ends(site: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    def ended(*words: str) -> int:
        here = ("--config", f"{site}/leadline.yaml", "--set", f"paths.data={site}/data")
        command = ["leadline", *here, "--store", f"lake:{site}/lake", *words]
        monkeypatch.chdir(site)
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as done:
            main()
        return int(done.value.code or 0)

    return ended


@pytest.mark.parametrize(
    ("words", "code"), [(words, code) for code, known in CODES.items() for words in known]
)
def test_commands_end_as_the_table_says(ends: Callable[..., int], words: str, code: int) -> None:
    """
    Answered, nothing known, not understood, something to look at.
    """
    assert code == ends(*words.split())


def test_a_store_that_cannot_be_opened_ends_with_one(site: Path, ends: Callable[..., int]) -> None:
    """
    A file where the lake should be is no lake.
    """
    (site / "file").write_text("")
    assert 1 == ends("--store", f"lake:{site}/file", "usage", "--by", "user")


@pytest.mark.parametrize(
    "words",
    [
        "usage",
        "jobs",
        "job fox/7",
        "findings",
        "nodes",
        "search vasp",
        "programs unmatched",
        "retain",
        "alerts run",
    ],
)
def test_a_lake_that_is_not_there_is_not_begun(
    site: Path, ends: Callable[..., int], capsys: pytest.CaptureFixture[str], words: str
) -> None:
    """
    A mistyped folder is told, not answered with "nothing" from an empty store that is then left.
    """
    assert 1 == ends("--store", f"lake:{site}/nowhere", *words.split())
    assert f"{site}/nowhere: no lake is there yet" in capsys.readouterr().err
    assert not (site / "nowhere").exists()


def test_a_reader_that_goes_away_is_no_error() -> None:
    """
    `leadline usage --list | head -1` ends with 141, without a word.
    """
    command = [sys.executable, "-m", "leadline.commands", "usage", "--list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        done.stdout.close()
        assert (141, b"") == (done.wait(30), done.stderr.read())


def test_the_table_names_every_code() -> None:
    """
    No code is tested that the docs do not tell.
    """
    table = re.findall(r"^\| ([\d, ]+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert [*map(str, CODES), "130, 141"] == table
