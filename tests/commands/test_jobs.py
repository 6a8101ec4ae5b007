"""
`leadline jobs` and `leadline findings` as people read them: whose clocks, how many more.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.store.lake import LakeStore

NOW = datetime.now(UTC).replace(microsecond=0)
END = NOW - timedelta(hours=2)


def run(cluster: str, number: int, **fields: object) -> Document:
    return {
        "dataset": "job",
        "@timestamp": format_time(END - timedelta(hours=2)),
        "cluster": cluster,
        "job.id": f"{cluster}/{number}",
        "job.run": f"{cluster}/{number}@1",
        "record.version": 1,
        "user.name": "alice",
        "job.start": format_time(END - timedelta(hours=1)),
        "job.core_seconds.allocated": 3600.0,
        "job.core_seconds.used": 0.0,
        **fields,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jobs")
    zones = {"fox": "Asia/Tokyo", "betzy": "America/New_York"}
    lines = [f"  {name}:\n    zone: {zone}\n" for name, zone in zones.items()]
    (folder / "leadline.yaml").write_text("clusters:\n" + "".join(lines))
    over = {"job.end": format_time(END), "job.state": "COMPLETED"}
    store = LakeStore(folder / "lake")
    documents = [run("fox", 1, **over), run("betzy", 2, **over), run("fox", 3)]
    assert 3 == store.write(documents, "create").accepted
    store.close()
    return folder


def leadline(folder: Path, *words: str) -> Result:
    config = ["--config", str(folder / "leadline.yaml"), "--store", f"lake:{folder / 'lake'}"]
    return CliRunner().invoke(cli, [*config, *words], env={"COLUMNS": "200"})


def test_ends_are_told_by_the_clusters_clocks(folder: Path) -> None:
    """
    Two clusters in two zones in one list: each row by its own, and the zones are said once.
    """
    text = leadline(folder, "jobs").stdout
    tokyo, york = END + timedelta(hours=9), END - timedelta(hours=4)
    (fox,) = [line for line in text.splitlines() if line.startswith("fox/1")]
    (betzy,) = [line for line in text.splitlines() if line.startswith("betzy/2")]
    assert f"{tokyo:%Y-%m-%d %H:%M}" in fox
    assert any(f"{york - timedelta(hours=h):%Y-%m-%d %H:%M}" in betzy for h in (0, 1))
    assert "Times are each cluster's own: betzy America/New_York, fox Asia/Tokyo." in text
    (row,) = json.loads(leadline(folder, "jobs", "-w", "cluster=fox", "--format", "json").stdout)
    assert format_time(END) == row["end"]


def test_what_is_left_out_is_told(folder: Path) -> None:
    """
    A list cut at --limit says so, and rows alone what they are counted in, beside the answer and
    not in it; a whole table says nothing.
    """
    cut = leadline(folder, "jobs", "--limit", "1", "--format", "csv")
    assert 2 == len(cut.stdout.splitlines())
    left, units, *sure = cut.stderr.splitlines()
    assert "Shown: the newest 1; --limit shows more." == left
    assert "wait, run_time in seconds" in units
    assert "Coverage not measured: no node heartbeats in this period." == sure[0]
    whole = leadline(folder, "jobs", "--limit", "2")
    assert ("", sure[0]) == (whole.stderr, whole.stdout.split("\n\n")[-1].splitlines()[0])


def test_a_running_job_used_no_zero_percent(folder: Path) -> None:
    """
    What is accounted while it runs, 0, is not what it used.
    """
    (row,) = json.loads(leadline(folder, "jobs", "--running", "--format", "json").stdout)
    assert ("fox/3", None) == (row["job"], row["cpu"])
    whole = json.loads(leadline(folder, "jobs", "--format", "json").stdout)
    assert [0.0, 0.0] == [one["cpu"] for one in whole]


def test_a_bare_number_is_looked_for_on_every_cluster(folder: Path, tmp_path: Path) -> None:
    """
    Had by one cluster it is that one's; had by two, both are named; had by none, how to write it.
    """
    assert leadline(folder, "job", "2").output.startswith("betzy/2 ")
    nobody = leadline(folder, "job", "77")
    assert "of which cluster? Write fox/77" in str(nobody.exception)
    store = LakeStore(tmp_path / "lake")
    assert 2 == store.write([run("fox", 5), run("betzy", 5)], "create").accepted
    store.close()
    (tmp_path / "leadline.yaml").write_text("")
    both = leadline(tmp_path, "job", "5")
    assert "of which cluster? Write betzy/5 or fox/5" in str(both.exception)


def test_several_jobs_are_one_table_for_programs(folder: Path) -> None:
    """
    One line of names, and then the rows of each.
    """
    told = leadline(folder, "job", "fox/1", "betzy/2", "--format", "csv").stdout
    assert ["job,time,cores,memory_bytes,gpus,io_bytes_per_second"] == told.splitlines()


def test_lists_know_the_periods_of_the_site(tmp_path: Path) -> None:
    """
    An allocation period of the settings is one for jobs, findings and command lines, too.
    """
    LakeStore(tmp_path / "lake").close()
    (tmp_path / "leadline.yaml").write_text('periods: {"2026.1": 2026-04-01..2026-09-30}\n')
    for words in ("jobs", "findings", "search", "nodes"):
        assert not isinstance(leadline(tmp_path, words, "-p", "2026.1").exception, QuestionError)


def state(hours: int, name: str) -> Document:
    about = {"job.id": "fox/9", "job.run": "fox/9@1", "state.reason": "Priority"}
    moment = format_time(END - timedelta(hours=hours))
    told = {"@timestamp": moment, "cluster": "fox", "state.name": name}
    return {"dataset": "job_state", "state.hash": name, **told, **about}


def test_waits_over_time_are_read_by_people(tmp_path: Path) -> None:
    """
    Hours by the cluster's clocks, and means as figures, not as they are stored.
    """
    store = LakeStore(tmp_path / "lake")
    assert 2 == store.write([state(3, "PENDING"), state(1, "RUNNING")], "create").accepted
    store.close()
    (tmp_path / "leadline.yaml").write_text("clusters: {fox: {zone: Asia/Tokyo}}")
    words = ("jobs", "--waiting", "--every", "hour", "-p", "last 24 hours")
    text = leadline(tmp_path, *words).stdout
    begun = (END - timedelta(hours=2)).replace(minute=0, second=0) + timedelta(hours=9)
    assert re.search(rf"{begun:%Y-%m-%d %H:%M}  Priority +1\.0 ", text), text
    assert text.endswith("Times are Asia/Tokyo.\n")


def test_a_node_nobody_told_of_is_named(tmp_path: Path) -> None:
    """
    A mistyped node is no scheduler that was not asked; nor are lists without a line only a head.
    """
    LakeStore(tmp_path / "lake").close()
    (tmp_path / "leadline.yaml").write_text("")
    assert "No state of c1-x in that time" in leadline(tmp_path, "nodes", "c1-x").stdout
    assert "No reservation" in leadline(tmp_path, "nodes", "--reservations").stdout
    assert [] == json.loads(leadline(tmp_path, "nodes", "--format", "json").stdout)


def test_cores_are_whole_in_json(folder: Path, tmp_path: Path) -> None:
    """
    64 cores are 64, not 64.0, wherever rows are read by programs.
    """
    store = LakeStore(tmp_path / "lake")
    over = {"job.end": format_time(END), "job.cores": 64, "job.gpus": 2}
    assert 1 == store.write([run("fox", 1, **over)], "create").accepted
    store.close()
    (tmp_path / "leadline.yaml").write_text("")
    for form in ("json", "ndjson"):
        told = json.loads(leadline(tmp_path, "jobs", "--format", form).stdout.strip())
        row = told[0] if isinstance(told, list) else told
        assert ("64", "2") == (str(row["cores"]), str(row["gpus"]))


def test_a_running_job_tells_how_long_it_runs(folder: Path) -> None:
    """
    From its start until now, as nobody has accounted it yet.
    """
    told = json.loads(leadline(folder, "jobs", "--running", "--format", "json").stdout)
    begun = (datetime.now(UTC) - END).total_seconds() + 3600
    assert [pytest.approx(begun, abs=120)] == [row["run_time"] for row in told]
