"""
One Delta table: which files are live, and commits that add and remove files at once.

DuckDB writes the Parquet files itself and deltalake keeps the log: handing rows through Arrow to
deltalake's own writer costs several times as much.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from leadline.formats import Dataset
from leadline.store.lake.folder import locked, sync
from leadline.store.lake.schema import PARTITION, delta_field, delta_schema

TIME, INGESTED = "@timestamp", "event.ingested"
CHECKPOINT_EVERY = "50"
LOG_KEPT = "interval 1 days"


@dataclass(frozen=True, slots=True)
class File:
    """
    A live Parquet file of the table and what the log knows about it.
    """

    path: str  # beneath the table's folder
    month: str
    rows: int
    size: int
    first: datetime  # the least and greatest @timestamp in it
    last: datetime
    ingested: datetime | None = None  # when the last of it came in; None: the log does not know


class Table:
    def __init__(self, folder: Path, dataset: Dataset) -> None:
        self.dataset = dataset
        self.folder = folder / dataset.name
        self._lock_file = folder / f"{dataset.name}.lock"
        self._delta: DeltaTable | None = None
        self._files: tuple[int, list[File]] = (-1, [])
        self._guard = threading.RLock()

    def files(self) -> list[File]:
        """
        The live files now, those of other processes' commits included.
        """
        with self._guard:
            delta = self._open()
            if delta is None:
                return []
            if self._files[0] != delta.version():
                self._files = (delta.version(), _read_files(delta))
            return self._files[1]

    def version(self) -> int:
        with self._guard:
            delta = self._open()
            return -1 if delta is None else delta.version()

    @contextmanager
    def locked(self) -> Iterator[None]:
        with locked(self._lock_file):
            yield

    def path(self, file: File) -> str:
        return str(self.folder / file.path)

    def prepare(self) -> None:
        """
        Make the table, or add the columns this version has and the table not yet. Under the lock.
        """
        with self._guard:
            delta = self._open()
            if delta is None:
                self.folder.mkdir(mode=0o700, exist_ok=True)
                self._delta = DeltaTable.create(
                    self.folder,
                    delta_schema(self.dataset),
                    mode="ignore",
                    partition_by=[PARTITION],
                    description=self.dataset.meaning,
                    configuration={
                        "delta.checkpointInterval": CHECKPOINT_EVERY,
                        "delta.logRetentionDuration": LOG_KEPT,
                    },
                )
                return
            have = {field.name for field in delta.schema().fields}
            new = [delta_field(f) for f in self.dataset.fields if f.name not in have]
            if new:
                delta.alter.add_columns(new)
                self._delta = None

    def commit(self, written: Sequence[Written], removed: Sequence[File] = ()) -> None:
        """
        Files in and files out in one step that readers see whole or not at all. Under the lock.

        A file's age starts anew when it leaves the table: vacuum leaves it to slow readers.
        """
        now = int(time.time() * 1000)
        for file in removed:
            os.utime(self.folder / file.path)
        actions: list[AddAction | RemoveAction] = [w.action(now, not removed) for w in written]
        actions += [RemoveAction(f.path, False, now, f.size, {PARTITION: f.month}) for f in removed]
        with self._guard:
            delta = self._open()
            assert delta is not None, "prepare() comes before commit()"
            delta.create_write_transaction(
                actions, "append", delta.schema(), partition_by=[PARTITION]
            )
            self._open()
            version = delta.version()
        sync(self.folder / "_delta_log" / f"{version:020d}.json")
        sync(self.folder / "_delta_log")

    def _open(self) -> DeltaTable | None:
        if self._delta is None:
            if not DeltaTable.is_deltatable(str(self.folder)):
                return None
            self._delta = DeltaTable(self.folder)
        following = f"{self._delta.version() + 1:020d}.json"
        if (self.folder / "_delta_log" / following).exists():
            self._delta.update_incremental()
        return self._delta


@dataclass(frozen=True, slots=True)
class Written:
    """
    A Parquet file that DuckDB has just written, not yet part of the table.
    """

    path: str
    month: str
    rows: int
    size: int
    first: str
    last: str
    ingested: str | None = None

    def action(self, now: int, changes: bool) -> AddAction:
        stats = {
            "numRecords": self.rows,
            "minValues": {TIME: self.first},
            "maxValues": {TIME: self.last} | ({INGESTED: self.ingested} if self.ingested else {}),
        }
        return AddAction(
            self.path, self.size, {PARTITION: self.month}, now, changes, json.dumps(stats)
        )

    @classmethod
    def from_copy(cls, folder: Path, row: Sequence[Any]) -> Written:
        """
        From a row of COPY … RETURN_STATS: name, rows, size, footer, statistics by column.
        """
        path = Path(row[0]).relative_to(folder)
        columns: Mapping[str, Mapping[str, str]] = row[4]
        times, came = columns[f'"{TIME}"'], columns.get(f'"{INGESTED}"', {}).get("max")
        month = path.parts[0].partition("=")[2]
        span = _iso(times["min"]), _iso(times["max"])
        return cls(str(path), month, row[1], row[2], *span, _iso(came) if came else None)


def _iso(text: str) -> str:
    """
    DuckDB's 2026-11-21 04:00:58.958+00 as the Delta log writes it.
    """
    moment = datetime.fromisoformat(text)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _read_files(delta: DeltaTable) -> list[File]:
    wanted: tuple[str, ...] = (
        "path",
        f"partition.{PARTITION}",
        "num_records",
        "size_bytes",
        f"min.{TIME}",
        f"max.{TIME}",
    )
    table = delta.get_add_actions(flatten=True)
    if f"max.{INGESTED}" in table.schema.names:
        wanted = (*wanted, f"max.{INGESTED}")
    columns = [table.column(name).to_pylist() for name in wanted]
    return [File(*row) for row in zip(*columns, strict=True)]
