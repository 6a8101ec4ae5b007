"""`leadline sample`: on this very machine, as a person or cron would call it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson

from leadline.formats.validate import read_line
from shipper.lock import OneAtATime
from shipper.writers import COLUMNS, TSV


def sample(*words: str, cluster: str = "") -> bytes:
    command = [sys.executable, "-m", "leadline.commands"]
    command += ["--cluster", cluster] if cluster else []
    environment = {**os.environ, "LEADLINE_CONFIG": ""}
    return subprocess.run(
        [*command, "sample", *words], check=True, stdout=subprocess.PIPE, env=environment
    ).stdout


def test_a_laptop_gives_a_complete_snapshot() -> None:
    """
    Every line passes the gate, nothing is unknown, this very process is
    in it with its command line, and no collector failed.
    """
    documents = [read_line(line) for line in sample("--over", "0.2", cluster="fox").splitlines()]
    count = Counter(str(document["dataset"]) for document in documents)
    assert count["process"] > 0
    assert count["node"] == 1
    assert count["event"] == 0
    assert not any("labels" in document for document in documents)
    assert {document["cluster"] for document in documents} == {"fox"}
    lines = [str(d.get("process.command_line")) for d in documents]
    assert any("leadline.commands --cluster fox sample" in line for line in lines)
    assert all("core_seconds" in d for d in documents if d["dataset"] == "node")


def test_tsv_is_a_table() -> None:
    """
    A head and one row per process, each with as many cells as the head.
    """
    rows = [
        line.split("\t") for line in sample("--format", "tsv", "--over", "0").decode().split("\n")
    ]
    assert rows.pop() == [""]
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(COLUMNS)}


def test_tsv_escapes_what_would_break_a_row() -> None:
    """
    Tabs, newlines and backslashes in a command; `-` for what is not known.
    """
    document: dict[str, object] = {
        "dataset": "process",
        "sample.time": "2026-11-21T10:00:00.000Z",
        "process.command_line": "a\tb\nc\\d\r",
        "cpu.percent": 0.0,
    }
    (line,) = TSV().lines([document, {"dataset": "node"}])
    cells = line.decode().rstrip("\n").split("\t")
    told = dict(zip(COLUMNS, cells, strict=True))
    assert told["command_line"] == "a\\tb\\nc\\\\d\\r"
    assert (told["cpu"], told["memory"], told["project"]) == ("0.0", "-", "-")


def test_append_adds_to_a_file(tmp_path: Path) -> None:
    """
    The second run adds lines and no second head.
    """
    file = tmp_path / "samples.tsv"
    for _ in range(2):
        assert sample("--format", "tsv", "--over", "0", "--append", str(file)) == b""
    lines = file.read_text().splitlines()
    assert sum(line.startswith("time\t") for line in lines) == 1
    assert len({line.partition("\t")[0] for line in lines}) == 3


def test_state_makes_runs_one_measurement(tmp_path: Path) -> None:
    """
    Cron's second run measures from the first run on: who lived through both has deltas.
    """
    words = ("--state", str(tmp_path), "--over", "0", "--collectors", "process")
    first = [orjson.loads(line) for line in sample(*words).splitlines()]
    busy = time.process_time() + 0.15
    while time.process_time() < busy:
        pass
    second = [orjson.loads(line) for line in sample(*words).splitlines()]
    used = [d for d in second if "core_seconds" in d]
    assert not any("core_seconds" in d for d in first)
    assert sum(d["core_seconds"] for d in used) >= 0.1
    assert all(d["interval.seconds"] > 0 for d in used)


def test_runs_do_not_pile_up(tmp_path: Path) -> None:
    """
    While one run holds the lock another one ends at once and without a word.
    """
    with OneAtATime(tmp_path) as mine:
        assert mine
        assert sample("--state", str(tmp_path)) == b""


def test_an_unknown_collector_is_refused() -> None:
    """
    By name, with those there are.
    """
    command = [sys.executable, "-m", "leadline.commands", "sample", "--collectors", "proces"]
    done = subprocess.run(command, check=False, capture_output=True)
    assert done.returncode == 2
    assert b"collector 'proces' is none of " in done.stderr


def test_doctor_lists_collectors() -> None:
    """
    What this machine can measure, and for what it cannot the reason.
    """
    command = [sys.executable, "-m", "leadline.commands", "doctor"]
    told = subprocess.run(command, check=False, capture_output=True).stdout.decode()
    (there,) = [line for line in told.splitlines() if line.split()[1:2] == ["collectors"]]
    assert "process, node" in there
    missing = [line for line in told.splitlines() if line.startswith("missing  collector ")]
    assert any("collector files" in line and "names no file" in line for line in missing)
