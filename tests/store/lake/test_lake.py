"""
What only the lake does: one folder, merges, versions of its tables, trouble with the disk.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from leadline.errors import StoreError
from leadline.formats import DATASETS
from leadline.formats.field import keyword
from leadline.store import open_store
from leadline.store.lake import LakeStore, folder, schema, upkeep, write
from leadline.store.lake.table import Table
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING
from tests.store.documents import job, process

# With a condition, or the log would answer and no file be read.
COUNT = Plan("process", (Aggregate("n", Function.COUNT),), where=(Condition("cluster", Op.EXISTS),))


def parquet(lake: LakeStore, dataset: str = "process") -> list[Path]:
    return sorted((lake.folder / dataset).glob("month=*/*.parquet"))


def count(lake: LakeStore) -> object:
    return lake.ask(COUNT, EVERYTHING)[0]["n"]


def test_the_folder_is_its_owners(lake: LakeStore) -> None:
    """
    Command lines are nobody else's business.
    """
    assert stat.S_IMODE(lake.folder.stat().st_mode) == 0o700


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """
    A lake that cannot be opened is one clear line.
    """
    (tmp_path / "taken").write_text("")

    with pytest.raises(StoreError, match="taken: not a folder"):
        open_store(f"lake:{tmp_path / 'taken'}")


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    """
    Locks do not reach other machines over NFS, unless someone says that one machine writes.
    """
    kinds = {"nfs4", "cifs", "fuse.sshfs"}

    for kind in kinds:
        with pytest.raises(StoreError, match=kind):
            folder.refuse_network(tmp_path, kind)
    folder.refuse_network(tmp_path, "ext4")
    folder.refuse_network(tmp_path, "")
    LakeStore(tmp_path / "lake", allow_network=True).close()


def test_another_reader_sees_what_was_just_written(lake: LakeStore) -> None:
    """
    A store opened before the first write, by somebody else, answers from then on.
    """
    reader = LakeStore(lake.folder)
    assert count(reader) == 0

    lake.write([process(1)], "create")
    assert count(reader) == 1
    lake.write([process(2)], "create")
    assert count(reader) == 2
    reader.close()


def test_small_files_are_merged_as_they_come(lake: LakeStore) -> None:
    """
    Hundreds of batches leave a handful of live files and lose nothing.
    """
    for number in range(40):
        lake.write([process(number * 10 + n) for n in range(10)], "create")

    assert len(lake.table("process").files()) < 2 * upkeep.MERGED_AT
    assert count(lake) == 400


def test_compact_merges_a_month_and_keeps_months_apart(lake: LakeStore) -> None:
    """
    The chores leave one file a month while it is small.
    """
    for day in (1, 5, 9):
        stamps = [f"2026-{month}-0{day}T00:00:00.000Z" for month in (10, 11)]
        lake.write(
            [process(day * 10 + n, **{"@timestamp": s}) for n, s in enumerate(stamps)], "create"
        )

    merged = lake.compact()

    assert merged == 6
    assert sorted(file.month for file in lake.table("process").files()) == ["2026-10", "2026-11"]
    assert count(lake) == 6
    assert lake.compact() == 0


def test_rows_are_sorted_within_a_file(lake: LakeStore) -> None:
    """
    Sorted rows are what makes a sample cost a few bytes.
    """
    lake.write([process(n, **{"host.name": f"c{9 - n}"}) for n in range(5)], "create")

    [path] = parquet(lake)
    rows = lake._database.execute(f"SELECT \"host.name\" FROM read_parquet('{path}')").fetchall()
    assert rows == sorted(rows)


def test_vacuum_leaves_what_somebody_may_still_read(lake: LakeStore) -> None:
    """
    Dead files and files not yet committed are deleted after an hour, live ones never.
    """
    lake.write([process(1)], "create")
    lake.write([process(2)], "create")
    before = parquet(lake)
    old = time.time() - 86_400
    for path in before:
        os.utime(path, (old, old))
    lake.compact()
    stranger = before[0].with_name("left-by-a-crash.parquet")
    stranger.write_bytes(b"")
    table = lake.table("process")

    assert upkeep.vacuum(table) == 0
    assert set(before) < set(parquet(lake))
    assert upkeep.vacuum(table, now=time.time() + 3700) == 3
    assert [str(path) for path in parquet(lake)] == [table.path(file) for file in table.files()]
    assert count(lake) == 2


def test_a_reader_tries_again_when_a_file_has_gone(lake: LakeStore) -> None:
    """
    A file list from before a merge whose files are deleted by now costs one more try.
    """
    lake.write([process(1)], "create")
    lake.write([process(2)], "create")
    table = lake.table("process")
    stale = table.files()
    lake.compact()
    upkeep.vacuum(table, now=time.time() + 3700)
    lists = [stale, table.files()]
    forgetful = LakeStore(lake.folder)
    forgetful._tables["process"] = fake = Table(lake.folder, DATASETS["process"])
    fake.files = lambda: lists.pop(0)  # type: ignore[method-assign]

    assert count(forgetful) == 2
    assert lists == []
    forgetful.close()


def test_a_newer_version_adds_its_columns(lake: LakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Old files lack the column, new ones have it, both are read and merged.
    """
    lake.write([process(1)], "create")
    dataset = DATASETS["process"]
    newer = replace(dataset, fields=(*dataset.fields, keyword("process.mood", "New")))
    monkeypatch.setitem(DATASETS, "process", newer)
    schema.fields_of.cache_clear()
    schema.empty_rows.cache_clear()
    try:
        store = LakeStore(lake.folder)
        lake_version = process(2, **{"process.mood": "good"})
        assert store.write([lake_version], "create").accepted == 1
        assert store.write([process(1)], "create").duplicate == 1
        store.compact()
        [found] = list(store.scan("process", EVERYTHING))
        assert [d.get("process.mood") for d in found] == [None, "good"]
        names = [field.name for field in DeltaTable(lake.folder / "process").schema().fields]
        assert "process.mood" in names
        store.close()
    finally:
        monkeypatch.undo()
        schema.fields_of.cache_clear()
        schema.empty_rows.cache_clear()

    assert count(lake) == 2


def test_months_of_before_a_column_are_asked_and_merged(
    lake: LakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Where no file has the column yet, it is absent: for questions, for replacing, for merging.
    """
    dataset = DATASETS["job"]
    newer = replace(dataset, fields=(*dataset.fields, keyword("job.mood", "New")))
    lake.write([job(1)], "replace")
    lake.write([job(2)], "replace")
    monkeypatch.setitem(DATASETS, "job", newer)
    schema.fields_of.cache_clear()
    schema.empty_rows.cache_clear()
    try:
        store = LakeStore(lake.folder)
        by_mood = Plan("job", (Aggregate("n", Function.COUNT),), (Group("job.mood"),))
        assert store.ask(by_mood, EVERYTHING) == [{"job.mood": None, "n": 2}]
        assert store.compact() == 2
        assert store.write([job(1, 2)], "replace").accepted == 1
        assert store.ask(by_mood, EVERYTHING) == [{"job.mood": None, "n": 2}]
        store.close()
    finally:
        monkeypatch.undo()
        schema.fields_of.cache_clear()
        schema.empty_rows.cache_clear()


def test_a_merge_gives_way_to_a_correction(
    lake: LakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A file that was replaced while it was being merged: the merge is dropped, the correction stays.
    """
    lake.write([job(1, 1)], "replace")
    lake.write([job(2, 1)], "replace")
    copy_out = write.copy_out

    def slowly(*arguments: object) -> object:
        written = copy_out(*arguments)  # type: ignore[arg-type]
        other = LakeStore(lake.folder)
        other.write([job(1, 2)], "replace")
        other.close()
        return written

    monkeypatch.setattr(upkeep, "copy_out", slowly)

    assert lake.compact() == 0
    versions = [str(d["record.version"]) for found in lake.scan("job", EVERYTHING) for d in found]
    assert sorted(versions) == ["1", "2"]
    assert len(parquet(lake, "job")) == len(lake.table("job").files()) + 1  # the replaced one


def test_a_full_disk_keeps_the_batch(lake: LakeStore) -> None:
    """
    What cannot be written now is handed back, to be tried again; nothing of it is stored.
    """
    lake.write([process(1)], "create")
    lake.staging = lake.folder / "no-such-folder"

    outcome = lake.write([process(2), process(3)], "create")

    assert (len(outcome.kept), outcome.accepted, outcome.pause) == (2, 0, True)
    assert "no-such-folder" in outcome.reason
    assert count(lake) == 1


def test_many_commits_leave_a_short_log(lake: LakeStore) -> None:
    """
    Checkpoints keep opening a lake quick.
    """
    for number in range(60):
        lake.write([process(number)], "create")

    assert list((lake.folder / "process" / "_delta_log").glob("*.checkpoint.parquet"))
    reader = LakeStore(lake.folder)
    assert count(reader) == 60
    reader.close()


@pytest.mark.parametrize(
    ("start", "end", "read"),
    [(None, None, False), (0, 60, False), (2, None, True), (None, 12, True), (100, None, False)],
)
def test_edges_and_counts_come_from_the_log(
    lake: LakeStore, start: int | None, end: int | None, read: bool
) -> None:
    """
    What the log knows of whole files is answered without opening one; a span that cuts through a
    file is read. Both say the same.
    """
    for first in (0, 10, 20):
        lake.write([process(first), process(first + 5)], "create")
    begin = datetime(2026, 11, 21, 4, tzinfo=UTC)
    edges = [None if at is None else begin + timedelta(seconds=at) for at in (start, end)]
    plan = Plan(
        "process",
        (
            Aggregate("n", Function.COUNT),
            Aggregate("first", Function.MIN, "@timestamp"),
            Aggregate("last", Function.MAX, "@timestamp"),
        ),
        start=edges[0],
        end=edges[1],
    )
    told = lake.ask(replace(plan, where=COUNT.where), EVERYTHING)
    assert lake.ask(plan, EVERYTHING) == told
    for path in parquet(lake):
        path.unlink()
    if read:
        with pytest.raises(StoreError):
            lake.ask(plan, EVERYTHING)
    else:
        assert lake.ask(plan, EVERYTHING) == told


def test_what_came_in_late_is_looked_for_in_few_files(lake: LakeStore) -> None:
    """
    The log knows when the last of each file came in: older files are not opened, and a file of
    which it does not know is read.
    """
    for hour in (5, 6, 7):
        lake.write(
            [process(hour) | {"event.ingested": f"2026-11-21T{hour:02d}:00:00.000Z"}], "create"
        )
        if hour == 6:
            for path in parquet(lake):
                path.unlink()
    first = (Aggregate("first", Function.MIN, "@timestamp"),)
    late = (Condition("event.ingested", Op.AT_LEAST, ("2026-11-21T06:30:00.000Z",)),)
    assert [{"first": process(7)["@timestamp"]}] == lake.ask(
        Plan("process", first, where=late), EVERYTHING
    )
    lake.write([process(8)], "create")  # nobody says when it came in
    assert [{"first": process(7)["@timestamp"]}] == lake.ask(
        Plan("process", first, where=late), EVERYTHING
    )
    earlier = (Condition("event.ingested", Op.AT_LEAST, ("2026-11-21T06:00:00.000Z",)),)
    with pytest.raises(StoreError):
        lake.ask(Plan("process", first, where=earlier), EVERYTHING)


def test_a_folder_that_goes_away_is_told(tmp_path: Path) -> None:
    """
    A lake whose disk is gone is not well, and no empty one.
    """
    store = LakeStore(tmp_path / "lake")
    assert store.health().ok
    (tmp_path / "lake").rename(tmp_path / "elsewhere")
    told = store.health()
    assert not told.ok
    assert "is its disk mounted?" in told.problems[0]
