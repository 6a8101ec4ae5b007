"""Each step by itself: what it makes of the values it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from enrich.chain import Chain, build_chain
from enrich.step import Context
from enrich.steps.ingested import Ingested
from enrich.steps.job_context import JobContext
from enrich.steps.redact import Redact
from enrich.warm import warm, warm_for
from leadline.formats import Document
from leadline.formats.redact import REDACTED
from leadline.store.memory import MemoryStore
from tests.enrich.conftest import make_line, make_sample


@pytest.mark.parametrize(
    ("recorded", "expected"), [("fox", "fox"), ("old_fox", "fox"), ("fox-2", "fox"), ("a_b", "a_b")]
)
def test_cluster_goes_by_its_name_of_today(chain: Chain, recorded: str, expected: str) -> None:
    """
    A cluster that was renamed is one cluster; `a_b` and `a-b` are two.
    """
    assert expected == chain.one(make_sample(cluster=recorded))["cluster"]


def test_bound_cluster_wins(context: Context) -> None:
    """
    The name bound to the sender, or given with --cluster, wins over the record.
    """
    bound = Context(rules=context.rules, clusters=context.clusters, cluster="owl")
    assert "owl" == build_chain(bound).one(make_sample())["cluster"]


@pytest.mark.parametrize(
    ("local_id", "expected"),
    [
        ("17", "fox/17"),
        ("17.3", "fox/17.3"),
        ("1234[5].pbs-server", "fox/1234[5].pbs-server"),
        ("c1-1/b00t-44-9", "fox/c1-1/b00t-44-9"),
        ("b00t-44-9", "fox/c1-1/b00t-44-9"),
    ],
)
def test_job_id_is_qualified(chain: Chain, local_id: str, expected: str) -> None:
    """
    A number is unique within its cluster, a session only on its host.
    """
    assert expected == chain.one(make_sample(**{"job.local_id": local_id}))["job.id"]


def test_renamed_cluster_keeps_its_jobs(chain: Chain) -> None:
    """
    Aliases become the name of today before any id is made.
    """
    assert "fox/17" == chain.one(make_sample(cluster="old_fox", **{"job.local_id": "17"}))["job.id"]


def test_runs_of_a_job_are_told_apart_by_submit(chain: Chain) -> None:
    """
    The same number submitted again, years later, is another run.
    """

    def run(submit: str) -> object:
        job = {"@timestamp": submit, "dataset": "job", "cluster": "fox", "job.local_id": "17"}
        return chain.one({**job, "job.submit": submit})["job.run"]

    assert "fox/17@1767225600" == run("2026-01-01T00:00:00.000Z")
    assert run("2026-01-01T00:00:00.000Z") != run("2021-01-01T00:00:00.000Z")


@pytest.mark.parametrize(
    ("time", "day", "hour"),
    [
        ("2026-03-29T00:59:59.999Z", "2026-03-29", 1),
        ("2026-03-29T01:00:00.000Z", "2026-03-29", 3),  # an hour is left out in spring
        ("2026-10-24T22:00:00.000Z", "2026-10-25", 0),
        ("2026-12-31T23:30:00.000Z", "2027-01-01", 0),
    ],
)
def test_local_time_is_the_clusters(chain: Chain, time: str, day: str, hour: int) -> None:
    """
    Days and hours are those of the people at the cluster, summer time included.
    """
    document = chain.one(make_sample(**{"@timestamp": time}))
    assert (day, hour) == (document["local.day"], document["local.hour"])


def test_day_of_a_slice_is_left_alone(chain: Chain) -> None:
    """
    A slice of a job says itself which day it is: its key hangs on it.
    """
    piece = {"@timestamp": "2026-01-01T23:30:00.000Z", "dataset": "job_slice", "cluster": "fox"}
    assert "2026-01-01" == chain.one({**piece, "local.day": "2026-01-01"})["local.day"]


def test_secrets_leave_every_text() -> None:
    """
    Command lines, names, sets and invented fields: no text keeps a secret.
    """
    document = make_sample(
        **{
            "process.command_line": "mysql -phunter2",
            "container": "x --token=hunter2",
            "program.tags": ["--password=hunter2"],
            "labels": {"deep": {"api_key": "hunter2"}},
        }
    )
    Redact()(document)
    assert "hunter2" not in str(document)
    assert REDACTED in str(document["process.command_line"])


def test_known_texts_are_not_looked_at_again() -> None:
    """
    A set of clean texts answers for a document that holds nothing new.
    """
    redact = Redact()
    redact(make_sample(1))
    known = len(redact._clean)
    redact(make_sample(1))
    assert known == len(redact._clean) > 5


def job_state(submit: str, **more: object) -> dict[str, object]:
    return {
        "@timestamp": submit,
        "dataset": "job_state",
        "cluster": "fox",
        "job.local_id": "17",
        "job.submit": submit,
        **more,
    }


def test_sample_learns_its_project_from_the_scheduler(chain: Chain) -> None:
    """
    Nodes send only a number: run, project and partition come from the state that passed before.
    """
    chain.one(job_state("2026-03-28T00:00:00.000Z", project="ec12", partition="gpu"))
    sample = chain.one(make_sample(**{"job.local_id": "17"}))
    assert ("fox/17@1774656000", "ec12", "gpu") == (
        sample["job.run"],
        sample["project"],
        sample["partition"],
    )


def test_sample_of_an_unknown_job_stays_as_it_is(chain: Chain) -> None:
    """
    Absent is unknown: nothing is made up, and what the sender knew is kept.
    """
    sample = chain.one(make_sample(project="ec1", **{"job.local_id": "18"}))
    assert "ec1" == sample["project"]
    assert "job.run" not in sample


def test_sample_goes_to_the_run_of_its_time(chain: Chain) -> None:
    """
    A number used again: samples from before the second submit are of the first run.
    """
    chain.one(job_state("2021-01-01T00:00:00.000Z", project="old"))
    chain.one(job_state("2026-01-01T00:00:00.000Z", project="new"))

    def project(time: str) -> object:
        fields = {"@timestamp": time, "job.local_id": "17"}
        return chain.one(make_sample(**fields)).get("project")

    assert ["old", "new", None] == [
        project("2023-01-01T00:00:00.000Z"),
        project("2026-02-01T00:00:00.000Z"),
        project("2020-01-01T00:00:00.000Z"),
    ]


def test_later_states_may_say_less() -> None:
    """
    A state without the project does not take it away from the run.
    """
    context = JobContext()
    run = {"job.id": "fox/17", "job.run": "fox/17@1", "@timestamp": "2026-01-01T00:00:00.000Z"}
    context.learn({**run, "project": "ec12"})
    context.learn({**run, "partition": "gpu"})
    sample = make_sample(**{"job.id": "fox/17"})
    context(sample)
    assert ("ec12", "gpu") == (sample["project"], sample["partition"])


def test_jobs_not_heard_of_are_forgotten_first() -> None:
    """
    Memory is bounded by the number of jobs.
    """
    context = JobContext(kept=2)
    for number in (1, 2, 1, 3):
        job = {"job.id": f"fox/{number}", "job.run": f"fox/{number}@1"}
        context.learn({**job, "@timestamp": "2026-01-01T00:00:00.000Z"})
    assert ["fox/1", "fox/3"] == sorted(context._jobs)


def test_worker_knows_recent_jobs_after_a_start(context: Context) -> None:
    """
    What passed before a restart is read back from the store.
    """
    store = MemoryStore()
    first = build_chain(context)
    store.write([first.one(job_state("2026-03-28T00:00:00.000Z", **STATE))], "create")
    again = build_chain(context)
    assert 1 == warm(again, store, datetime(2026, 3, 29, tzinfo=UTC))
    assert "ec12" == again.one(make_sample(**{"job.local_id": "17"}))["project"]


def test_files_learn_from_jobs_stored_before(context: Context, tmp_path: Path) -> None:
    """
    Samples read from files after their jobs: the store tells what the scheduler said then.
    """
    store = MemoryStore()
    first = build_chain(context)
    store.write([first.one(job_state("2026-03-28T00:00:00.000Z", **STATE))], "create")
    path = tmp_path / "samples.ndjson"
    path.write_bytes(make_line(**{"job.local_id": "17"}))
    assert 1 == warm_for(build_chain(context), store, [str(path)])
    path.write_bytes(b"no document")
    assert 0 == warm_for(build_chain(context), store, [str(path), "-"])


STATE = {"project": "ec12", "state.name": "RUNNING", "state.hash": "x"}


def test_a_document_is_taken_in_by_the_last_worker() -> None:
    """
    One that another worker stamped a day ago is new here: roll-ups look for what came in lately.
    """
    taken: Document = {"dataset": "process", "event.ingested": "2026-03-01T10:00:00.000Z"}
    Ingested("rules-2", clock=lambda: 4_000_000_000.0)(taken)
    assert ("2096-10-02T07:06:40.000Z", "rules-2") == (
        taken["event.ingested"],
        taken["rules.version"],
    )
