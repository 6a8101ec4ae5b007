"""
`leadline retain`: says first, deletes only when told, and only what is wholly old.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.formats.pseudonyms import is_pseudonym
from leadline.store.lake import LakeStore
from leadline.store.scope import EVERYTHING
from tests.store.documents import process

OLD = process(1, **{"@timestamp": "2020-03-15T00:00:00.000Z"})
USAGE = {
    "dataset": "usage",
    "@timestamp": "2015-03-15T10:00:00.000Z",
    "cluster": "fox",
    "host.name": "c1",
    "record.version": 1,
}


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)


def left(folder: Path, dataset: str) -> int:
    store = LakeStore(folder)
    count = sum(len(batch) for batch in store.scan(dataset, EVERYTHING))
    store.close()
    return count


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    store = LakeStore(tmp_path / "lake")
    store.write([OLD, process(2)], "create")
    store.write([USAGE], "replace")
    store.close()
    return tmp_path / "lake"


def test_a_plain_run_only_says(lake: Path) -> None:
    """
    Summaries past their age would go; raw months that are not sealed are told apart.
    """
    done = run("--store", f"lake:{lake}", "retain")
    assert "would delete" in done.output
    assert "not sealed, kept" in done.output
    assert (left(lake, "usage"), left(lake, "process")) == (1, 2)


def test_raw_months_stay_until_they_are_sealed(lake: Path) -> None:
    """
    --yes deletes what may go, not raw samples without summaries.
    """
    run("--store", f"lake:{lake}", "retain", "--yes")
    assert (left(lake, "usage"), left(lake, "process")) == (0, 2)


def test_unsealed_takes_raw_months_too(lake: Path) -> None:
    """
    For a site that wants no summaries; the month that is not over stays.
    """
    run("--store", f"lake:{lake}", "retain", "--unsealed", "--yes")
    assert (left(lake, "usage"), left(lake, "process")) == (0, 1)


def test_a_sealed_month_goes(lake: Path) -> None:
    """
    After the chores have summarised it, --yes takes the old month and its usage stays.
    """
    address = f"lake:{lake}"
    for chore in ("rollup", "seal"):
        run("--store", address, "chores", "--once", "--only", chore)
    told = run("--set", "retention.usage=0", "--store", address, "retain", "--yes")
    assert "not sealed" not in told.output
    assert (left(lake, "usage"), left(lake, "process")) == (3, 1)


@pytest.mark.parametrize(("setting", "kept"), [("yes", 1), ("no", 2)])
def test_the_daily_chore_does_as_the_settings_say(lake: Path, setting: str, kept: int) -> None:
    """
    `chores.retain: no` leaves it to the command.
    """
    for chore in ("rollup", "seal", "retain"):
        options = ("--set", f"chores.retain={setting}", "--store", f"lake:{lake}")
        run(*options, "chores", "--once", "--only", chore)
    assert left(lake, "process") == kept


def test_only_files_dated_by_name_go(tmp_path: Path) -> None:
    """
    A file without a day in its name, or of another kind, is nobody's to delete.
    """
    stay = (
        "notes.txt",
        "2020-01-01.txt",
        "samples.ndjson",
        "c1-2999-01-01.ndjson",
        "x-20201301.csv",
    )
    go = ("c1-2020-01-01.ndjson", "20200102.ndjson.gz", "c1.2020-01-03.tsv.zst")
    for name in (*stay, *go):
        (tmp_path / name).touch()
    (tmp_path / "c2-2020-01-01.ndjson").symlink_to(tmp_path / "notes.txt")
    told = run("retain", "--files", tmp_path, "--keep", "90d")
    assert told.output.count("would delete") == 3
    run("retain", "--files", tmp_path, "--keep", "90d", "--yes")
    assert {path.name for path in tmp_path.iterdir()} == {*stay, "c2-2020-01-01.ndjson"}


def test_old_names_are_hidden_with_the_rest(tmp_path: Path) -> None:
    """
    Told first; with --yes they are pseudonyms, and a second run finds none.
    """
    store = LakeStore(tmp_path / "lake")
    recent = {**USAGE, "@timestamp": "2023-03-15T10:00:00.000Z", "user.name": "alice"}
    store.write([recent], "replace")
    store.close()
    words = ("--set", f"paths.data={tmp_path}", "retain")
    assert "would hide  names in 1 document of usage" in run(*words).output
    assert "hidden  names in 1 document of usage" in run(*words, "--yes").output
    assert "nothing is older" in run(*words, "--yes").output
    store = LakeStore(tmp_path / "lake")
    (batch,) = store.scan("usage", EVERYTHING)
    assert is_pseudonym(str(batch[0]["user.name"]))
    store.close()
