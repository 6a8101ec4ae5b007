"""Only what changed is sent; once a day everything, marked as a snapshot."""

from __future__ import annotations

from dataclasses import replace

import orjson

from leadline.formats import Document
from leadline.formats.gres import parse_gres
from leadline.formats.times import epoch_seconds
from leadline.formats.validate import check
from shipper.collectors.slurm.changes import Changes
from shipper.collectors.slurm.records import JobSeen, Look, NodeSeen, ReservationSeen

NOON = 1_790_000_000 // 86400 * 86400 + 43200
JOB = JobSeen(
    id=7,
    state="PENDING",
    reason="Priority",
    submit=NOON - 100,
    user="alice",
    uid=1001,
    account="physics",
    partition="batch",
    cpus=4,
    node_count=1,
)
NODE = NodeSeen(name="n1.fox", state="IDLE", cpus=16, cores=8, gres=parse_gres("gpu:a100:4"))


class Watched:
    """
    Looks at a cluster of JOB and NODE as they are said to be at each look.
    """

    def __init__(self) -> None:
        self.changes = Changes()

    def look(
        self,
        at: int,
        *jobs: JobSeen,
        nodes: tuple[NodeSeen, ...] = (),
        held: tuple[ReservationSeen, ...] = (),
    ) -> list[Document]:
        found = self.changes.of(Look(list(jobs), list(nodes), list(held)), NOON + at)
        return [check(dict(document)) for document in found]


def changes_in(documents: list[Document], dataset: str = "job_state") -> list[Document]:
    return [d for d in documents if d["dataset"] == dataset and not d.get("snapshot")]


def test_life_of_a_job() -> None:
    """
    Every state with the time it began, and how long the one before it lasted.
    """
    watched = Watched()
    running = replace(JOB, state="RUNNING", reason=None, start=NOON + 70, nodes="n1")
    lived: list[Document] = []
    lived += watched.look(0, JOB)
    lived += watched.look(60, replace(JOB, reason="Resources"))
    lived += watched.look(120, running)
    lived += watched.look(180, replace(running, state="SUSPENDED"))
    lived += watched.look(240, running)
    lived += watched.look(300, replace(running, state="COMPLETING", end=NOON + 290))
    lived += watched.look(360, replace(running, state="COMPLETED", end=NOON + 290))
    told = [
        (
            d["state.name"],
            d.get("state.reason"),
            epoch_seconds(str(d["@timestamp"])) - NOON,
            d.get("state.seconds"),
        )
        for d in changes_in(lived)
    ]
    assert told == [
        ("PENDING", "Priority", -100, None),
        ("PENDING", "Resources", 60, 160),
        ("RUNNING", None, 70, 10),
        ("SUSPENDED", None, 180, 110),
        ("RUNNING", None, 240, 60),
        ("COMPLETING", None, 290, 50),
        ("COMPLETED", None, 290, 0),
    ]


def test_nothing_new_is_nothing_sent() -> None:
    """
    The second look at the same cluster has no documents.
    """
    watched = Watched()
    assert watched.look(0, JOB, nodes=(NODE,))
    assert [] == watched.look(60, replace(JOB, priority=99), nodes=(NODE,))


def test_first_look_and_each_day_are_snapshots() -> None:
    """
    Nodes of the first look did not change then; every day all that lives is told again.
    """
    watched = Watched()
    first = watched.look(0, JOB, nodes=(NODE,))
    assert [True] == [d["snapshot"] for d in first if d["dataset"] == "node_state"]
    assert [] == changes_in(first, "node_state")
    assert [] == watched.look(3600, JOB, nodes=(NODE,))
    daily = watched.look(86400, JOB, nodes=(NODE,))
    assert ["job_state", "node_state"] == [d["dataset"] for d in daily]
    assert all(d["snapshot"] for d in daily)


def test_a_change_at_midnight_is_a_change() -> None:
    """
    A node that changed is not counted as a snapshot because a day began.
    """
    watched = Watched()
    watched.look(0, nodes=(NODE,))
    down = replace(NODE, state="DOWN", flags=("NOT_RESPONDING",), reason="PSU")
    (change,) = watched.look(86400, nodes=(down,))
    assert "snapshot" not in change
    assert 86400 == change["state.seconds"]


def test_priority_alone_is_told_gently() -> None:
    """
    Each minute a little more: nothing. Half as much again after an hour: told, not as a change.
    """
    watched = Watched()
    waits = replace(JOB, priority=1000)
    watched.look(0, waits)
    for minute in range(1, 59):
        assert [] == watched.look(60 * minute, replace(waits, priority=1000 + 20 * minute))
    (told,) = watched.look(3600, replace(waits, priority=2200))
    assert ("job_state", True, 2200) == (told["dataset"], told["snapshot"], told["job.priority"])
    assert [] == watched.look(3660, replace(waits, priority=9999))
    assert [] == watched.look(7300, replace(waits, priority=2300))
    assert 1 == len(watched.look(7400, replace(waits, priority=0)))


def test_priority_of_a_running_job_is_nothing() -> None:
    """
    It waits no more.
    """
    watched = Watched()
    running = replace(JOB, state="RUNNING", start=NOON, nodes="n1", priority=5)
    watched.look(0, running)
    assert [] == watched.look(4000, replace(running, priority=5000))


def test_moved_job_is_told_at_once() -> None:
    """
    Another QOS or partition, while it waits: the state and the run are told anew.
    """
    watched = Watched()
    watched.look(0, JOB)
    state, run = watched.look(60, replace(JOB, qos="urgent", partition="gpu"))
    assert ("urgent", "gpu", True) == (state["qos"], state["partition"], state["snapshot"])
    assert ("job", "urgent") == (run["dataset"], run["qos"])
    assert [] == watched.look(120, replace(JOB, qos="urgent", partition="gpu"))


def test_unknown_state_is_kept() -> None:
    """
    A word of a Slurm to come is no reason to lose a job or a node.
    """
    watched = Watched()
    job = replace(JOB, state="TELEPORTING", flags=("FAST",))
    node = replace(NODE, state="SLEEPWALKING")
    found = watched.look(0, job, nodes=(node,))
    assert {"TELEPORTING", "SLEEPWALKING"} == {d["state.name"] for d in found if "state.name" in d}
    assert [] == watched.changes.ended


def test_requeued_run_is_another_run() -> None:
    """
    The same id with a new submit time: the run before is over, though squeue shows it no more.
    """
    watched = Watched()
    running = replace(JOB, state="RUNNING", start=NOON - 50, nodes="n1")
    watched.look(0, running)
    again = replace(JOB, submit=NOON + 30, reason="BeginTime")
    (state, job) = watched.look(60, again)
    assert "PENDING" == state["state.name"]
    assert state["job.submit"] == job["@timestamp"]
    assert [running] == watched.changes.ended


def test_run_is_provisional_until_it_ends() -> None:
    """
    squeue's record never has a greater version than that of the ended run.
    """
    watched = Watched()
    first = changes_in(watched.look(0, JOB), "job")
    running = replace(JOB, state="RUNNING", start=NOON + 10, nodes="n1")
    second = changes_in(watched.look(60, running), "job")
    assert [True, True] == [d["provisional"] for d in first + second]
    assert 110 == second[0]["job.wait.seconds"]
    assert all(d["record.version"] <= NOON - 100 for d in first + second)  # type: ignore[operator]


def test_restarted_shipper_goes_on() -> None:
    """
    What was told is remembered: nothing is told twice, what vanished meanwhile has ended.
    """
    before, after = Watched(), Watched()
    before.look(0, JOB, nodes=(NODE,))
    after.changes.restore(orjson.loads(orjson.dumps(before.changes.dump())))
    assert [] == after.look(60, nodes=(NODE,))
    assert [(7, NOON - 100)] == [(job.id, job.submit) for job in after.changes.ended]


def test_hardware_threads_are_divided_out() -> None:
    """
    Two threads a core: 4 CPUs are 2 cores.
    """
    watched = Watched()
    found = watched.look(0, replace(JOB, nodes="n1", state="RUNNING", start=NOON), nodes=(NODE,))
    assert {2} == {d["job.cores"] for d in found if d["dataset"] == "job"}


def test_cards_in_use_are_a_change() -> None:
    """
    A node stays MIXED while its cards come and go; how many are free must be known all the same.
    """
    watched = Watched()
    mixed = replace(NODE, state="MIXED")
    watched.look(0, nodes=(mixed,))
    (change,) = watched.look(60, nodes=(replace(mixed, gres_used=parse_gres("gpu:a100:3")),))
    assert (4, 3) == (change["gpu.total"], change["gpu.allocated"])


def test_what_a_node_has_is_part_of_it() -> None:
    """
    Another partition, more memory: told at once, not with the next full set.
    """
    watched = Watched()
    watched.look(0, nodes=(NODE,))
    (moved,) = watched.look(60, nodes=(replace(NODE, partitions=("gpu",)),))
    assert ["gpu"] == moved["partitions"]
    (grown,) = watched.look(120, nodes=(replace(NODE, partitions=("gpu",), memory=1 << 40),))
    assert 1 << 40 == grown["memory.total.bytes"]


def test_removed_node_is_told_once() -> None:
    """
    Slurm no longer has it; an answer without any node is no reason to think so.
    """
    watched = Watched()
    other = replace(NODE, name="n2")
    watched.look(0, nodes=(NODE, other))
    assert [] == watched.look(30)
    (gone,) = watched.look(60, nodes=(NODE,))
    assert ("n2", "REMOVED", 60) == (gone["host.name"], gone["state.name"], gone["state.seconds"])
    assert [] == watched.look(120, nodes=(NODE,))


def test_reservation_holds_its_nodes_while_it_lasts() -> None:
    """
    Told when made, changed and gone; on the nodes only between its times.
    """
    held = ReservationSeen(name="course", start=NOON + 60, end=NOON + 120, nodes="n[1-2]")
    watched = Watched()
    assert ["event"] == [
        d["dataset"] for d in watched.look(0, nodes=(NODE,), held=(held,)) if "snapshot" not in d
    ]
    (during,) = watched.look(60, nodes=(NODE,), held=(held,))
    assert ["course"] == during["reservations"]
    (after,) = watched.look(120, nodes=(NODE,), held=(held,))
    assert "reservations" not in after
    (gone,) = watched.look(180, nodes=(NODE,))
    assert ("gone", "course") == (gone["event.reason"], gone["event.object"])


def test_names_that_meet_are_told() -> None:
    """
    `n1.fox` and `N1` would be one node in the store: the second is left out, and told once.
    """
    watched = Watched()
    twin = replace(NODE, name="N1", state="DOWN")
    found = watched.look(0, nodes=(NODE, twin))
    assert ["IDLE"] == [d["state.name"] for d in found if d["dataset"] == "node_state"]
    assert [["N1", "n1.fox"]] == [d["event.names"] for d in found if d["dataset"] == "event"]
    assert [] == watched.look(60, nodes=(NODE, twin))
