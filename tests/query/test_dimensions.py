"""
Dimensions that are more than a field: kinds of nodes, card models, classes, hours of runs, weeks.
"""

from __future__ import annotations

import pytest

from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.store.contract import Store
from tests.any_store import STORES
from tests.query.conftest import answer, heartbeat, sample, stored
from tests.query.test_accounted import run, slices

GIB = 2**30


def typed(host: str, kind: str | None, cluster: str = "fox") -> Document:
    made = {**heartbeat(host, "2026-11-20T11:00:00.000Z"), "cluster": cluster}
    return made if kind is None else {**made, "node.type": kind}


def told(rows: object, *names: str) -> dict[object, object]:
    return {tuple(r[n] for n in names[:-1]): r[names[-1]] for r in rows}  # type: ignore[attr-defined]


NODES = [typed("c1-1", "thin"), typed("c1-2", "fat"), typed("c1-3", "fat")]
SAMPLES = [
    sample(number, **{"host.name": f"c1-{host}", "user.name": user})
    for number, (host, user) in enumerate([(1, "a"), (2, "a"), (2, "b"), (3, "a"), (4, "c")])
]


def test_kinds_of_nodes_are_joined_from_nodes() -> None:
    """
    Samples name nodes, nodes have kinds; one nobody knows the kind of is a row of its own.
    """
    found = answer(stored([*NODES, *SAMPLES]), "core_hours_used, users by node_type during all")
    assert {("thin",): 1.0, ("fat",): 3.0, (None,): 1.0} == told(
        found.rows, "node_type", "core_hours_used"
    )
    assert {("thin",): 1, ("fat",): 2, (None,): 1} == told(found.rows, "node_type", "users")
    assert {"core_hours_used": 5.0, "users": 3} == found.total


@pytest.mark.parametrize(
    ("where", "hours"),
    [("fat", 3.0), ("thin|fat", 4.0), ("f*", 3.0), ("(none)", 1.0), ("thin|(none)", 2.0)],
)
def test_filters_on_kinds(where: str, hours: float) -> None:
    """
    A filter on kinds takes their nodes; != takes all others, unknown ones too.
    """
    store = stored([*NODES, *SAMPLES])
    for sign, expected in (("=", hours), ("!=", 5.0 - hours)):
        found = answer(store, f"core_hours_used where node_type{sign}{where} during all")
        assert expected == (found.total["core_hours_used"] or 0.0)


def test_one_name_on_two_clusters_is_two_nodes() -> None:
    """
    Sums tell c1-1 of two clusters apart; what cannot be joined is refused, not guessed.
    """
    store = stored(
        [
            *NODES,
            typed("c1-1", "fat", "betzy"),
            *SAMPLES,
            sample(9, **{"cluster": "betzy", "host.name": "c1-1"}),
        ]
    )
    found = answer(store, "core_hours_used by node_type during all")
    assert {("thin",): 1.0, ("fat",): 4.0, (None,): 1.0} == told(
        found.rows, "node_type", "core_hours_used"
    )
    with pytest.raises(QuestionError, match="c1-1 is of one kind here"):
        answer(store, "memory_median by node_type during all")


def ran(number: int, *hosts: str, cluster: str = "fox") -> list[Document]:
    """
    A run of an hour on four cores and its day; without HOSTS nobody told where.
    """
    common: Document = {
        "cluster": cluster,
        "job.run": f"{cluster}/{number}@1",
        "record.version": 1,
        "local.day": "2026-11-20",
        "job.wait.seconds": 60.0 * 10**number,
        "job.wall.seconds": 3600.0,
        **({"job.nodes": sorted(hosts)} if hosts else {}),
    }
    moment = {"@timestamp": "2026-11-20T08:00:00.000Z"}
    ended = {"job.end": "2026-11-20T10:00:00.000Z"}
    hours = {"wall.seconds": 3600.0, "core_seconds_allocated": 4 * 3600.0}
    return [
        {"dataset": "job", **moment, **common, **ended},
        {"dataset": "job_slice", **moment, **common, **hours},
    ]


RUNS = [
    document
    for number, hosts in enumerate([("c1-1",), ("c1-2", "c1-3"), ("c1-1", "c1-2"), (), ("c1-9",)])
    for document in ran(number, *hosts)
]


@STORES
def test_runs_by_kind_of_node(other: Store) -> None:
    """
    A run on two nodes of a kind counts once there, one on two kinds in both, and the answer says
    so; runs of nobody knows where are a row of their own. Others and total count each run once.
    """
    assert not other.write([*NODES, *RUNS], "replace").rejected
    found = answer(other, "jobs, core_hours_allocated, run_time_max by node_type during all")
    assert {("thin",): 2, ("fat",): 2, (None,): 2} == told(found.rows, "node_type", "jobs")
    assert {("thin",): 8.0, ("fat",): 8.0, (None,): 8.0} == told(
        found.rows, "node_type", "core_hours_allocated"
    )
    assert {"jobs": 5, "core_hours_allocated": 20.0, "run_time_max": 3600.0} == found.total
    assert found.multiple
    assert ("1 of jobs counted in more than one row; the total counts each once",) == found.notes
    daily = answer(other, "jobs by node_type per day during all")
    assert daily.multiple
    assert found.notes == daily.notes
    top = answer(other, "jobs, run_time_median by node_type during all top 1")
    assert ["fat"] == [row["node_type"] for row in top.rows]
    assert {"jobs": 3, "run_time_median": pytest.approx(3600.0, rel=0.02)} == top.others
    assert not top.notes  # a run that is in a shown row and in a hidden one counts in the shown one


@STORES
def test_runs_on_one_kind_of_node(other: Store) -> None:
    """
    A filter takes the runs that were on such a node at all.
    """
    other.write([*NODES, *RUNS], "replace")
    for where, jobs in (("=fat", 2), ("!=fat", 3), ("=thin|fat", 3), ("=(none)", 2), ("=f*", 2)):
        assert jobs == answer(other, f"jobs where node_type{where} during all").total["jobs"]
    with pytest.raises(QuestionError, match=r"ask for \(none\) on its own"):
        answer(other, "jobs where node_type=fat|(none) during all")


def test_kinds_of_two_clusters_whose_nodes_share_a_name() -> None:
    """
    Runs are told by their own cluster's kind of the node.
    """
    store = stored([*NODES, typed("c1-1", "fat", "betzy"), *RUNS, *ran(7, "c1-1", cluster="betzy")])
    found = answer(store, "jobs by node_type during all")
    assert {("thin",): 2, ("fat",): 3, (None,): 2} == told(found.rows, "node_type", "jobs")


@STORES
def test_hours_by_how_long_runs_waited_and_ran(other: Store) -> None:
    """
    The days of a run know its classes of wait and run time, in the words of jobs.
    """
    other.write(RUNS, "replace")
    found = answer(other, "jobs, core_hours_allocated by wait_class during all")
    assert [
        ("1–10 min", 1, 4.0),
        ("10–60 min", 1, 4.0),
        ("1–6 h", 1, 4.0),
        ("6–24 h", 1, 4.0),
        ("over a day", 1, 4.0),
    ] == [
        (found.label("wait_class", row["wait_class"]), row["jobs"], row["core_hours_allocated"])
        for row in found.rows
    ]
    found = answer(other, "wall_hours by run_time_class during all")
    assert [("1–6 h", 5.0)] == [
        (found.label("run_time_class", row["run_time_class"]), row["wall_hours"])
        for row in found.rows
    ]
    asked = 'wall_hours where run_time_class="1-6 h", wait_class="1-6 h" during all'
    assert 1.0 == answer(other, asked).total["wall_hours"]


def test_three_dimensions_and_a_bucket() -> None:
    """
    Kind, user and hour of the day together, per week: parts make the whole.
    """
    found = answer(
        stored([*NODES, *SAMPLES]),
        "core_hours_used by node_type, user, hour_of_day per week during all top 2",
    )
    assert ["2026-W47", "2026-W47"] == [found.label("week", row["week"]) for row in found.rows]
    parts = [float(row["core_hours_used"] or 0) for row in found.rows]
    assert 5.0 == sum(parts) + ((found.others or {})["core_hours_used"] or 0)
    assert 2 == found.others_count


def test_busy_gpu_hours_by_model() -> None:
    """
    Samples of processes do not know the card, those of processes on cards do.
    """
    cards = [
        {
            **{k: v for k, v in sample(n).items() if k != "core_seconds"},
            "dataset": "process_gpu",
            "gpu.uuid": f"u{n}",
            "gpu.model": model,
            "gpu_seconds": 1800.0,
            "interval.seconds": 3600.0,
        }
        for n, model in enumerate(["A100", "A100", "H100"])
    ]
    both = sample(7, gpu_seconds=5400.0)
    found = answer(stored([both, *cards]), "gpu_hours_busy, gpu_hours_held by gpu_model during all")
    assert {("A100",): 1.0, ("H100",): 0.5} == told(found.rows, "gpu_model", "gpu_hours_busy")
    assert {"gpu_hours_busy": 1.5, "gpu_hours_held": 3.0} == found.total
    found = answer(stored([both, *cards]), "gpu_hours_busy where gpu_model=H100 during all")
    assert 0.5 == found.total["gpu_hours_busy"]
    assert (
        1.5 == answer(stored([both, *cards]), "gpu_hours_busy during all").total["gpu_hours_busy"]
    )


def test_memory_of_a_program_at_the_snapshots() -> None:
    """
    A histogram: samples of each program by class of memory, in the order of the classes.
    """
    sizes = {"VASP": (1, 2, 6), "GROMACS": (2,)}
    documents = [
        sample(number, **{"program.name": name, "memory.rss.bytes": size * GIB})
        for number, (name, size) in enumerate((n, s) for n, each in sizes.items() for s in each)
    ]
    found = answer(
        stored([*documents, sample(9, **{"program.name": "VASP"})]),
        "samples by memory_class where program=VASP during all",
    )
    labels = [found.label("memory_class", row["memory_class"]) for row in found.rows]
    assert ["1–4 GiB", "4–16 GiB", "unknown"] == labels
    assert [2, 1, 1] == [row["samples"] for row in found.rows]


def test_hours_of_runs_by_hour_of_day() -> None:
    """
    A run from 21:30 to 23:30 counts half an hour, an hour and half an hour.
    """
    day = {**slices(1, ("2026-10-31", 2.0))[0], "hours": {"21": 1800, "22": 3600, "23": 1800}}
    found = answer(stored([day]), "core_hours_allocated by hour_of_day during 2026-10")
    assert [(21, 2.0), (22, 4.0), (23, 2.0)] == [
        (row["hour_of_day"], row["core_hours_allocated"]) for row in found.rows
    ]
    assert "21–22" == found.label("hour_of_day", 21)
    with pytest.raises(QuestionError, match="ask `by hour_of_day`"):
        answer(stored([day]), "core_hours_allocated where hour_of_day=21 during 2026-10")


def test_core_hours_by_wait_and_run_time() -> None:
    """
    Core hours of ended runs by how long they waited and ran; both classes at once.
    """
    store = stored(
        [
            run(1, "2026-10-10T08:00", "2026-10-10T08:00", "2026-10-10T12:00"),
            run(2, "2026-10-10T08:00", "2026-10-11T12:00", "2026-10-11T12:30"),
        ]
    )
    found = answer(store, "core_hours_ended by wait_class, run_time_class during all")
    assert {("< 1 min", "1–6 h"): 16.0, ("over a day", "10–60 min"): 2.0} == {
        tuple(found.label(name, row[name]) for name in found.question.by): row["core_hours_ended"]
        for row in found.rows
    }


def test_weeks_are_named_as_people_name_them() -> None:
    """
    The week of 1 January 2027 is the 53rd of 2026.
    """
    found = answer(
        stored([sample(1, **{"local.day": "2027-01-01"})]), "core_hours_used per week during all"
    )
    assert "2026-W53" == found.label("week", found.rows[0]["week"])
