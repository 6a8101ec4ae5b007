"""The simulated fleet: its documents are valid, and its truth is what they say."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.commands.simulate import simulate as command
from leadline.formats.ids import document_id
from leadline.formats.validate import read_line
from leadline.simulate import CATALOGUE, Plan, simulate
from tests.simulate.conftest import PLAN

HOURS = 3600


def of(documents: list[dict], dataset: str) -> list[dict]:
    return [document for document in documents if document["dataset"] == dataset]


def test_every_line_passes_the_gate(lines: list[bytes]) -> None:
    """
    Nothing a simulated shipper sends is refused, and nothing in it is unknown.
    """
    assert len(lines) > 5000
    assert not [line for line in lines if "labels" in read_line(line)]


def test_no_two_documents_are_the_same(documents: list[dict]) -> None:
    """
    Each sample has a key of its own.
    """
    samples = [d for d in documents if not d["dataset"].startswith("job")]
    assert len({document_id(document) for document in samples}) == len(samples)


def test_samples_add_up_to_the_sampled_truth(documents: list[dict], truth: dict) -> None:
    """
    Core hours added up from documents are those of the truth, by user, host and job.
    """
    user: dict[str, float] = defaultdict(float)
    host: dict[str, float] = defaultdict(float)
    job: dict[str, float] = defaultdict(float)
    for document in of(documents, "process"):
        hours = document["core_seconds"] / HOURS
        user[document["user.name"]] += hours
        host[document["host.name"]] += hours
        if "job.local_id" in document:
            job[f"fox/{document['job.local_id']}"] += hours
    used = truth["sampled"]["core_hours_used"]
    assert used["user"] == pytest.approx(user, rel=1e-4, abs=1e-4)
    assert used["host"] == pytest.approx(host, rel=1e-4, abs=1e-4)
    assert used["job"] == pytest.approx(job, rel=1e-4, abs=1e-4)


def test_gpu_hours_agree_between_datasets(documents: list[dict], truth: dict) -> None:
    """
    Busy and held hours of cards are the same by process, by process and card, and in the truth.
    """
    totals = truth["sampled"]["totals"]
    processes = of(documents, "process")
    busy = sum(d.get("gpu_seconds", 0) for d in processes) / HOURS
    held = sum(d.get("gpu_held_seconds", 0) for d in processes) / HOURS
    by_card = sum(d["gpu_seconds"] for d in of(documents, "process_gpu")) / HOURS
    assert busy > 10
    assert totals["gpu_hours_busy"] == pytest.approx(busy, rel=1e-6)
    assert totals["gpu_hours_held"] == pytest.approx(held, rel=1e-6)
    assert by_card == pytest.approx(busy, rel=1e-6)


def test_days_add_up_to_the_whole(truth: dict) -> None:
    """
    Core hours by day and program make up core hours by program.
    """
    programs: dict[str, float] = defaultdict(float)
    for day in truth["sampled"]["by_day"].values():
        for program, hours in day["core_hours_used"]["program"].items():
            programs[program] += hours
    assert truth["sampled"]["core_hours_used"]["program"] == pytest.approx(programs, abs=1e-3)


def test_samples_see_less_than_what_happened(truth: dict) -> None:
    """
    Processes that die between two ticks take hours with them that nobody sees, but not many.
    """
    sampled, real = truth["sampled"]["totals"], truth["real"]["totals"]
    assert 0.9 < sampled["core_hours_used"] / real["core_hours_used"] < 1
    assert sampled["processes"] < real["processes"]


def test_more_frequent_samples_see_more(tmp_path: Path) -> None:
    """
    The same fleet looked at every minute is seen better than every half an hour.
    """
    often = simulate(Plan(seed=5, nodes=3, days=2, every=60, end=PLAN.end), tmp_path / "often")
    seldom = simulate(Plan(seed=5, nodes=3, days=2, every=1800, end=PLAN.end), tmp_path / "seldom")
    assert often.real["core_hours_used"] == pytest.approx(seldom.real["core_hours_used"], rel=0.02)
    assert 0 < often.errors["core_hours_used"] < seldom.errors["core_hours_used"]


def test_silent_node_sends_nothing(documents: list[dict], truth: dict) -> None:
    """
    A node that is down has no documents, then comes back with another boot and a heartbeat.
    """
    (silent,) = truth["findings"]["silent"]
    own = [d for d in documents if d.get("host.name") == silent["host"] and "sample.time" in d]
    taken = sorted({d["sample.time"] for d in own})
    low, high = (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(silent[k])) for k in ("from", "to"))
    assert taken[0] < low
    assert taken[-1] > high
    assert not [moment for moment in taken if low < moment[:19] < high]
    assert len({d["boot.id"] for d in own}) == 2
    beats = [d for d in own if d["dataset"] == "node" and "core_seconds" not in d]
    assert len(beats) == 1


def test_strays_run_where_their_user_has_no_job(documents: list[dict], truth: dict) -> None:
    """
    A stray's samples carry no job, and no job of its user is on that node meanwhile.
    """
    assert truth["findings"]["strays"]
    for stray in truth["findings"]["strays"]:
        own = [
            d
            for d in of(documents, "process")
            if d["host.name"] == stray["host"] and d.get("process.pid") == stray["pid"]
        ]
        assert all("job.local_id" not in d for d in own)
        moments = {d["sample.time"] for d in own}
        beside = [
            d
            for d in of(documents, "process")
            if d["user.name"] == stray["user"]
            and d["host.name"] == stray["host"]
            and d["sample.time"] in moments
        ]
        assert not [d for d in beside if "job.local_id" in d]


def test_zombies_say_so(documents: list[dict], truth: dict) -> None:
    """
    A zombie has its state, no command line and uses nothing.
    """
    dead = [d for d in of(documents, "process") if d["process.state"] == "Z"]
    assert {d["process.pid"] for d in dead} <= {z["pid"] for z in truth["findings"]["zombies"]}
    assert dead
    assert {d["core_seconds"] for d in dead} == {0}
    assert not [d for d in dead if "process.command_line" in d]


def test_no_core_and_no_card_is_used_twice(documents: list[dict]) -> None:
    """
    A node is never busier than its cores, a card never busier than a card.
    """
    used: Counter[tuple[str, str]] = Counter()
    for d in of(documents, "process"):
        if not d["host.name"].startswith("login"):
            used[d["host.name"], d["sample.time"]] += d["core_seconds"]
    assert max(used.values()) <= 1.05 * 64 * PLAN.every
    assert max(d["gpu_seconds"] for d in of(documents, "gpu")) <= 1.01 * PLAN.every


def test_weekends_are_quieter(documents: list[dict]) -> None:
    """
    Fewer jobs are submitted on a Saturday than on the Friday before.
    """
    days = Counter(d["@timestamp"][:10] for d in of(documents, "job_state")
                   if d["state.name"] == "PENDING")  # fmt: skip
    assert days["2026-11-21"] < 0.7 * days["2026-11-20"]


def test_a_jobs_states_come_before_its_samples(fleet: Path) -> None:
    """
    Files read in order tell what a job is before its first sample comes.
    """
    first = min(path.name for path in fleet.glob("*.ndjson"))
    assert first == "0-jobs.ndjson"


def test_same_plan_same_bytes(tmp_path: Path) -> None:
    """
    A seed makes the same fleet again, packed files and all; another seed does not.
    """
    made = []
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        simulate(Plan(seed=seed, nodes=2, days=1, every=900, end=PLAN.end), tmp_path / name)
        files = sorted((tmp_path / name).iterdir())
        made.append({path.name: path.read_bytes() for path in files})
    assert made[0] == made[1]
    assert made[0] != made[2]


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_small_fleets_work_too(tmp_path: Path, nodes: int) -> None:
    """
    A fleet of one node has jobs and samples as well.
    """
    report = simulate(Plan(seed=1, nodes=nodes, days=1, every=900, end=PLAN.end), tmp_path)
    assert report.documents > 96 * nodes
    assert report.sampled["core_hours_used"] > 50


def test_command_writes_files_and_tells_the_error(tmp_path: Path) -> None:
    """
    `leadline simulate` names what it wrote, how fast, and the sampling error to expect.
    """
    words = ["--out", str(tmp_path / "x"), "--nodes", "2", "--days", "1", "--every", "30m"]
    told = CliRunner().invoke(command, [*words, "--end", "2026-11-21T00:00:00Z"])
    assert told.exit_code == 0, told.output
    assert "expected sampling error" in told.output
    assert {p.suffix for p in (tmp_path / "x").iterdir()} == {".gz", ".json", ".csv"}


@pytest.mark.parametrize("words", [["--every", "often"], ["--end", "soon"], ["--nodes", "0"]])
def test_command_refuses_nonsense(tmp_path: Path, words: list[str]) -> None:
    """
    A span, a moment or a number that cannot be is refused before anything is written.
    """
    told = CliRunner().invoke(command, ["--out", str(tmp_path / "x"), *words])
    assert told.exit_code != 0
    assert not (tmp_path / "x").exists()


def test_catalogue_has_names_and_gaps() -> None:
    """
    The fleet runs at least thirty programs, and some commands that no rule shall know.
    """
    assert len({recipe.program for recipe in CATALOGUE if recipe.program}) >= 30
    assert [recipe for recipe in CATALOGUE if recipe.program is None]
