"""
A world where there is one of everything: nothing that is said of it is in the plural.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.store.lake import LakeStore

NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
SEVERAL = re.compile(r"(?<![\w.,/:-])1 (?!was|has|is|does)[a-z]+s\b")
GRANT = "allocations.grants=[{project: p1, core_hours: 1, period: 2020-01-01..2099-12-31}]"


def at(hours: float) -> str:
    return format_time(NOW - timedelta(hours=hours))


def common(dataset: str, hours: float, **fields: object) -> Document:
    return {
        "dataset": dataset,
        "@timestamp": at(hours),
        "cluster": "fox",
        "host.name": "c1",
        "boot.id": "b",
        "sample.uptime": 3600,
        "interval.seconds": 3600.0,
        **fields,
    }


def world() -> list[Document]:
    """
    One node of one core and one card, one job with one sample, and one process that is defunct.
    """
    who = {"user.name": "alice", "user.id": "2000", "process.name": "work", "core_seconds": 3600.0}
    said = {"process.command_line": "work --once"}
    return [
        common("node", 2.5, **{"node.cores": 1, "core_seconds": 3600.0}),
        common("gpu", 2.5, **{"gpu.uuid": "u0", "gpu_seconds": 0.0, "gpu.processes": 0}),
        common("process", 2.5, **who, **said, **{"process.entity_id": "1-1", "job.id": "fox/1"}),
        common("process", 2.4, **who, **{"process.entity_id": "2-1", "process.state": "Z"}),
        {
            **common("job", 3, **{"job.id": "fox/1", "job.run": "fox/1@1", "record.version": 1}),
            **{"user.name": "alice", "job.start": at(3), "job.end": at(2), "project": "p1"},
            **{"job.state": "COMPLETED", "job.wall.seconds": 3600.0, "job.nodes": ["c1"]},
            **{"job.cores": 1, "job.gpus": 1, "job.limit.seconds": 86400.0, "job.name": "one"},
            **{"job.core_seconds.allocated": 3600.0, "job.core_seconds.used": 3600.0},
        },
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one")
    store = LakeStore(folder / "lake")
    assert not store.write(world(), "create").rejected
    store.close()
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "job fox/1",
        "job fox/1 --scale",
        "jobs",
        "findings",
        "search work",
        "allocations",
        "usage --by user --period all",
        "usage -m jobs -m core_hours_allocated --by user --period all",
        "nodes",
        "nodes --gpus",
        "chores --once",
        "retain",
    ],
)
def test_one_is_said_in_the_singular(lake: Path, words: str) -> None:
    """
    `1 sample`, `1 node`, `1 job`, `1 document`, whatever the command.
    """
    start = ["--store", f"lake:{lake / 'lake'}", "--set", f"paths.data={lake}", "--set", GRANT]
    result = CliRunner().invoke(cli, [*start, *words.split()], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.output
    assert not SEVERAL.findall(result.output), result.output
