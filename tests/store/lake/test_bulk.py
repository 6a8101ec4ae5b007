"""
Rows of readers that are SQL: straight into their months, each once, the greatest version of it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from leadline.errors import StoreError
from leadline.formats import DATASETS
from leadline.store.lake import LakeStore
from leadline.store.lake.bulk import Rows
from leadline.store.scope import EVERYTHING

HOUR = 3600
BEGIN = 1795233600  # 2026-11-21T04:00:00Z


def runs(numbers: range, version: int = 1, apart: int = HOUR) -> Rows:
    """
    One run each APART seconds, with few of the columns a job has.
    """

    def select(first: datetime | None = None, end: datetime | None = None) -> str:
        moment = f"({BEGIN} + number * {apart})"
        within = ""
        if first and end:
            within = f" WHERE {moment} >= {first.timestamp()} AND {moment} < {end.timestamp()}"
        return (
            f"SELECT make_timestamptz({moment} * 1000000) AS \"@timestamp\", 'job' AS dataset,"
            f" 'fox' AS cluster, 'fox/' || number AS \"job.run\", {version} AS \"record.version\""
            f" FROM range({numbers.start}, {numbers.stop}) AS made(number){within}"
        )

    return select


@pytest.fixture
def write(lake: LakeStore) -> Callable[[Rows], tuple[int, int, int]]:
    con = lake.connection()

    def rows_written(rows: Rows) -> tuple[int, int, int]:
        counts = lake.write_rows(con, "job", rows)
        return counts.accepted, counts.updated, counts.duplicate

    return rows_written


def versions(lake: LakeStore) -> dict[object, object]:
    found = [document for batch in lake.scan("job", EVERYTHING) for document in batch]
    assert len(found) == len({document["job.run"] for document in found})
    return {document["job.run"]: document["record.version"] for document in found}


def test_new_rows_fall_into_their_months(
    lake: LakeStore, write: Callable[[Rows], tuple[int, int, int]]
) -> None:
    """
    A batch over a month's end becomes one file for each month, with what the reader fills.
    """
    assert (500, 0, 0) == write(runs(range(500)))

    files = lake.table("job").files()
    assert ["2026-11", "2026-12"] == [file.month for file in sorted(files, key=lambda f: f.month)]
    assert 500 == sum(file.rows for file in files)
    found = duckdb.execute(f"DESCRIBE FROM read_parquet('{lake.table('job').path(files[0])}')")
    columns = {row[0] for row in found.fetchall()}
    assert columns < {field.name for field in DATASETS["job"].fields} | {"month"}
    assert 500 == len(versions(lake))


def test_what_is_known_is_not_written_again(
    lake: LakeStore, write: Callable[[Rows], tuple[int, int, int]]
) -> None:
    """
    The same rows a second time change no file of the table.
    """
    write(runs(range(100)))
    before = lake.table("job").files()

    assert (0, 0, 100) == write(runs(range(100)))
    assert before == lake.table("job").files()


def test_a_batch_that_is_partly_known(
    lake: LakeStore, write: Callable[[Rows], tuple[int, int, int]]
) -> None:
    """
    New rows are added, equal versions left alone, greater ones put in place of the old.
    """
    write(runs(range(100)))

    assert (20, 0, 10) == write(runs(range(90, 120)))
    assert (40, 20, 0) == write(runs(range(100, 140), version=2))
    assert (0, 0, 100) == write(runs(range(100), version=0))
    expected = {f"fox/{number}": 1 if number < 100 else 2 for number in range(140)}
    assert expected == versions(lake)


def test_a_row_twice_in_a_batch_is_one(
    lake: LakeStore, write: Callable[[Rows], tuple[int, int, int]]
) -> None:
    """
    Repeats within a batch are sorted out before anything is written.
    """

    def twice(first: datetime | None = None, end: datetime | None = None) -> str:
        once = runs(range(30))(first, end)
        return f"{once} UNION ALL {once}"

    assert (30, 0, 30) == write(twice)
    assert 30 == len(versions(lake))


def test_rows_that_fall_out_of_their_month_are_an_error(
    lake: LakeStore, write: Callable[[Rows], tuple[int, int, int]]
) -> None:
    """
    A reader whose bounds lose rows is found out before anything can be seen.
    """
    with pytest.raises(StoreError, match="fell into a month"):
        write(lambda first=None, end=None: runs(range(0 if first is None else 1, 500))(first, end))
    assert versions(lake) == {}


def test_nothing_is_seen_before_what_it_waits_for(lake: LakeStore, tmp_path: Path) -> None:
    """
    Where what comes first fails, the rows after it are not in the store.
    """

    def fails() -> None:
        raise StoreError("the days were not written")

    con = lake.connection()
    with pytest.raises(StoreError, match="the days"):
        lake.write_rows(con, "job", runs(range(10)), fails)
    assert versions(lake) == {}
