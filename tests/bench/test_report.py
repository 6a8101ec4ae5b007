"""
The benchmarks' common report: figures that other programs can read, and promises that are checked.
"""

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from bench.report import Report

ROOT = Path(__file__).resolve().parents[2]


def test_figures_are_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """
    `--json` holds name, value, unit and target of each figure; the table says what was met.
    """
    report = Report("title")
    report.add("cost", 0.3, "ratio", "<= 0.4")
    report.add("rate", 1234567.0, "documents/s", ">= 2000000")
    report.add("size", 12.0, "bytes")
    report.finish(Namespace(json=tmp_path / "out.json"))
    assert json.loads((tmp_path / "out.json").read_text()) == [
        {"name": "cost", "value": 0.3, "unit": "ratio", "target": "<= 0.4"},
        {"name": "rate", "value": 1234567.0, "unit": "documents/s", "target": ">= 2000000"},
        {"name": "size", "value": 12.0, "unit": "bytes", "target": None},
    ]
    cost, rate, size = capsys.readouterr().out.splitlines()[2:]
    assert cost.endswith("met")
    assert rate.split()[1:] == ["1,234,567", "documents/s", ">=", "2000000", "MISSED"]
    assert size.split() == ["size", "12", "bytes"]


@pytest.mark.parametrize("target", ["0.4", "< 0.4", "<= much"])
def test_unreadable_target_is_refused(target: str) -> None:
    """
    A promise nobody can check is a mistake of the benchmark.
    """
    with pytest.raises(ValueError, match=r"target|float"):
        Report("title").add("cost", 0.3, "ratio", target)


@pytest.mark.slow
def test_spool_benchmark_runs_from_anywhere(tmp_path: Path) -> None:
    """
    `python bench/spool.py --quick --json FILE` needs no installed package and no certain folder.
    """
    out = tmp_path / "spool.json"
    words = [sys.executable, str(ROOT / "bench" / "spool.py"), "--quick", "--json", str(out)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=50)
    assert "append_vs_raw_100" in {figure["name"] for figure in json.loads(out.read_text())}
