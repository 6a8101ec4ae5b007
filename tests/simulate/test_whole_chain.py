"""From simulated files through the worker into the lake: answers equal the truth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from leadline.simulate import Plan, simulate
from tests.simulate.conftest import END

LEADLINE = (sys.executable, "-m", "leadline.commands")
CASES = (
    ("core_hours_used", "program"),
    ("core_hours_used", "user"),
    ("core_hours_used", "host"),
    ("core_hours_used", "project"),
    ("core_hours_used", "job"),
    ("gpu_hours_busy", "program"),
    ("gpu_hours_held", "user"),
)


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A fleet of five nodes and two days, read by `leadline enrich` as it would read any files.
    """
    folder = tmp_path_factory.mktemp("chain")
    plan = Plan(seed=21, nodes=5, days=2, every=900, end=END)
    files = simulate(plan, folder / "fleet").files
    leadline(folder, "enrich", *map(str, files))
    return folder


def leadline(folder: Path, *words: str) -> str:
    data = ("--set", f"paths.data={folder}/data", "--store", f"lake:{folder}/lake")
    done = subprocess.run([*LEADLINE, *data, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("measure", "dimension"), CASES)
def test_answers_equal_the_truth(taken_in: Path, measure: str, dimension: str) -> None:
    """
    What `leadline usage` says of every name is what ideal shippers could see, to 0.1 %.
    """
    truth = orjson.loads((taken_in / "fleet" / "truth.json").read_bytes())
    words = ("--measure", measure, "--by", dimension, "--period", "all", "--top", "100000")
    told = orjson.loads(leadline(taken_in, "usage", *words, "--format", "json"))
    found = {row[dimension] or "unmatched": row[measure] or 0.0 for row in told["rows"]}
    wanted = truth["sampled"][measure][dimension]
    assert len(wanted) >= 2
    for name, hours in wanted.items():
        assert found[name] == pytest.approx(hours, rel=1e-3, abs=2e-3), name
    assert told["total"] == pytest.approx(truth["sampled"]["totals"][measure], rel=1e-3)
