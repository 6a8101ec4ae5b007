"""Whichever way Slurm is asked, the same documents come of it; captures of a real one prove it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.validate import check
from shipper.collectors.slurm import from_json, from_pyslurm, from_text
from shipper.collectors.slurm.changes import Changes
from shipper.collectors.slurm.pyslurm_dump import JOB, NODE, RESERVATION, dump, misfit
from shipper.collectors.slurm.records import Look
from tests.shipper.slurm.conftest import TAKEN, by_json, by_text, capture
from tests.shipper.slurm.fake_pyslurm import attributes, fake_pyslurm


def documents(look: Look) -> list[Document]:
    return [check(document) for document in Changes().of(look, TAKEN)]


def of(dataset: str, look: Look) -> list[Document]:
    return [document for document in documents(look) if document["dataset"] == dataset]


def ordered(found: list[Document]) -> list[Document]:
    return sorted(found, key=lambda document: str(sorted(document.items())))


def job(found: list[Document], name: str) -> Document:
    (one,) = [document for document in found if document.get("job.name") == name]
    return one


def test_three_ways_give_the_same_documents() -> None:
    """
    One moment of one Slurm, asked by pyslurm, as JSON and as text: jobs, nodes, reservations.
    """
    by_pyslurm = from_pyslurm.read(orjson.dumps(dump(fake_pyslurm())))
    expected = ordered(documents(by_json()))
    assert len(expected) > 20
    assert ordered(documents(by_text())) == expected
    assert ordered(documents(by_pyslurm)) == expected


def test_pyslurm_is_asked_for_what_it_has() -> None:
    """
    Every attribute was there when 25.11 was recorded.
    """
    for names, kind in ((JOB, "job"), (NODE, "node"), (RESERVATION, "reservation")):
        assert set(names) <= set(attributes(kind))


def test_documents_hold_nothing_unknown() -> None:
    """
    Every field is one that leadline.formats defines.
    """
    found = documents(by_json())
    assert {"job", "job_state", "node_state", "event"} == {str(d["dataset"]) for d in found}
    assert [document for document in found if "labels" in document] == []


def test_states_and_reasons_arrive_as_they_are() -> None:
    """
    What sbatch, scancel, scontrol and the scheduler did to the captured jobs.
    """
    states = {
        (str(d.get("job.name")), d["state.name"], d.get("state.reason"))
        for d in of("job_state", by_json())
        if not d.get("snapshot")
    }
    assert ("held", "PENDING", "JobHeldUser") in states
    assert ("stopped", "SUSPENDED", None) in states
    assert ("fail", "FAILED", "NonZeroExitCode") in states
    assert ("later", "CANCELLED", "BeginTime") in states
    assert ('we|rd "näme" a=b, c;d', "RUNNING", None) in states
    assert {s for n, s, _ in states if n == "array"} == {"PENDING", "RUNNING"}
    assert any(n == "never" and str(r).startswith("Dependency") for n, _, r in states)


def test_cards_of_a_job_are_counted_once() -> None:
    """
    `gres/gpu=2,gres/gpu:a100=2` are two cards, with their model.
    """
    cards = job(of("job", by_text()), "cards")
    assert (2, ["A100"], 2, "one-node") == (
        cards["job.gpus"],
        cards["gpu.models"],
        cards["job.cores"],
        cards["job.class"],
    )


def test_drained_node_tells_who_and_why() -> None:
    """
    Base state, flags, the whole reason, its author and time, and the reservation on it.
    """
    (node,) = [d for d in of("node_state", by_text()) if d["host.name"] == "n2"]
    assert ("IDLE", ["DRAIN"]) == (node["state.name"], node["state.flags"])
    assert 'fan noise; check "rack 3" | later' == node["state.reason"]
    assert "root" == node["state.reason_user"]
    assert str(node["state.reason_time"]).startswith("2026-11-21T06:09:")
    assert ["course"] == node["reservations"]
    assert {"RTX 8000": {"total": 2, "allocated": 0}} == node["gpu.by_model"]


def test_reservations_have_times_and_users() -> None:
    """
    An event for each, with the nodes it holds.
    """
    events = {d["event.object"]: d for d in of("event", by_text())}
    assert {"course", "maint"} == set(events)
    assert ["n2"] == events["course"]["event.names"]
    assert "users news" in str(events["course"]["event.reason"])
    assert str(events["course"]["event.end"]) > str(events["course"]["event.start"])


def as_new(value: Any, name: str = "") -> Any:
    """
    A record of 22.05 as 25.11 writes it: numbers as objects, states as lists.
    """
    if name in ("job_state", "state") and isinstance(value, str):
        return [value.upper()]
    if isinstance(value, dict):
        return {key: as_new(inner, key) for key, inner in value.items()}
    keeps = ("job_id", "user_id", "submit_time")
    if isinstance(value, int) and not isinstance(value, bool) and name not in keeps:
        return {"set": True, "infinite": False, "number": value}
    if value is None and name == "time_limit":
        return {"set": False, "infinite": True, "number": 0}
    return value


def test_new_json_gives_what_old_json_gives() -> None:
    """
    25.11's numbers with `set` and `infinite`, and its lists of states.
    """

    def renewed(name: str) -> bytes:
        records = orjson.loads(capture(f"{name}.json"))[name]
        changed = [as_new(record) for record in records]
        for record in changed:
            if name == "nodes":
                record["state"] += record.pop("state_flags")
                for key in ("features", "partitions"):
                    if isinstance(record[key], str):
                        record[key] = record[key].split(",")
        return orjson.dumps({name: changed})

    new = Look(
        from_json.read_jobs(renewed("jobs")),
        from_json.read_nodes(renewed("nodes")),
        from_text.read_reservations(capture("reservations.txt")),
    )
    assert documents(new) == documents(by_json())


@pytest.mark.parametrize(
    ("ours", "running", "why"),
    [
        ("25.11.2", "25.11.0", None),
        ("22.5.1", "22.05.8", None),
        ("25.11.2", "22.05.8", "is built for another Slurm than 22.05.8"),
        ("25.11.2", "", "unknown"),
        (None, "22.05.8", "not installed"),
    ],
)
def test_pyslurm_must_fit_the_slurm_that_runs(
    ours: str | None, running: str, why: str | None
) -> None:
    """
    The first two numbers are the same; else it says in words why it is not asked.
    """
    said = misfit(ours, running)
    assert (why is None) == (said is None)
    assert (why or "") in (said or "")


@pytest.mark.parametrize("raw", [b"", b"{}", b"slurm_load_jobs error", b'{"jobs": 3}', b"[]"])
def test_nonsense_is_refused(raw: bytes) -> None:
    """
    An answer that is no answer raises FormatError, and nothing else.
    """
    for read in (from_json.read_jobs, from_pyslurm.read):
        with pytest.raises(FormatError):
            read(raw)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        ({"set": True, "infinite": False, "number": 5}, 5),
        ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": True, "infinite": True, "number": 0}, None),
        (4294967294, None),
        (None, None),
        (True, None),
    ],
)
def test_numbers_of_both_ages(value: object, expected: int | None) -> None:
    """
    What is not set or has no bound is absent, never 0.
    """
    assert expected == from_json.number(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1-00:00:00", 86400), ("10:00", 600), ("1:02:03", 3723), ("UNLIMITED", None), ("", None)],
)
def test_time_limits(text: str, expected: int | None) -> None:
    """
    Days, hours, minutes; no limit is absent.
    """
    assert expected == from_text.seconds(text)
