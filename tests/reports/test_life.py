"""A job's whole life: every state of every run, why, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.life import job_life
from leadline.store import open_store
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 3, 2, tzinfo=UTC)


def told(hour: float, state: str, run: int = 1, **fields: object) -> Document:
    reason = fields.get("state.reason")
    return {
        "dataset": "job_state",
        "@timestamp": format_time(START + timedelta(hours=hour)),
        "cluster": "fox",
        "job.id": "fox/7",
        "job.run": f"fox/7@{run}",
        "state.name": state,
        "state.hash": f"{state}{reason}",
        "partition": "gpu",
        **fields,
    }


WAITS = {"state.reason": "Priority", "job.priority": 10}
LIFE = (
    told(0, "PENDING", **WAITS),
    told(0.5, "PENDING", snapshot=True, **WAITS),
    told(1, "PENDING", snapshot=True, **{**WAITS, "job.priority": 30}),
    told(2, "RUNNING", **{"job.nodes": ["n1", "n2"]}),
    told(3, "PREEMPTED"),
    told(3, "PENDING", 2, **{"state.reason": "BeginTime"}),
    told(4, "RUNNING", 2, **{"state.flags": ["STOPPED"]}),
    told(6, "COMPLETED", 2),
    told(6, "COMPLETING", 2),
)


def test_every_state_with_its_time() -> None:
    """
    Over both runs; what was only told again is left out, another priority is not.
    """
    rows = job_life(stored(LIFE), EVERYTHING, "fox/7", START + timedelta(hours=9))
    assert [
        ("PENDING", 3600.0),
        ("PENDING", 3600.0),
        ("RUNNING", 3600.0),
        ("PREEMPTED", 0.0),
        ("PENDING", 3600.0),
        ("RUNNING+STOPPED", 7200.0),
        ("COMPLETING", 0.0),
        ("COMPLETED", None),
    ] == [(row["state"], row["seconds"]) for row in rows]
    assert [10, 30] == [row["priority"] for row in rows[:2]]
    assert "n1,n2" == rows[2]["nodes"]
    assert ["fox/7@1"] * 4 + ["fox/7@2"] * 4 == [row["run"] for row in rows]


def test_a_state_that_lasts_lasts_until_now() -> None:
    """
    The job runs still.
    """
    rows = job_life(stored(LIFE[:4]), EVERYTHING, "fox/7", START + timedelta(hours=9))
    assert ("RUNNING", 7 * 3600.0) == (rows[-1]["state"], rows[-1]["seconds"])


def test_a_job_nobody_told_of_is_refused() -> None:
    """
    With its name.
    """
    with pytest.raises(QuestionError, match="fox/8"):
        job_life(stored(LIFE), EVERYTHING, "fox/8", START)


def test_command_prints_it(tmp_path: Path) -> None:
    """
    `leadline job --states` on a lake, as a table and as CSV.
    """
    address = f"lake:{tmp_path}/lake"
    open_store(address).write(list(LIFE), "create")
    for form in ("table", "csv"):
        words = ["--store", address, "job", "fox/7", "--states", "--format", form]
        output = CliRunner().invoke(cli, words).output
        assert "PREEMPTED" in output
        assert "Priority" in output
