"""
Findings: each detector finds what it is for, and keeps quiet where it must.
"""

from __future__ import annotations

from leadline.formats import Document
from leadline.reports.findings import rows
from tests.reports.documents import at, found, job, node, process


def hogging(busy: float, taken: float, **fields: object) -> list[Document]:
    return [
        *(node(h + 0.5, busy) for h in range(24)),
        *(process(h + 0.5, core_seconds=taken * 3600, **fields) for h in range(3)),
    ]


def test_hogging_needs_a_busy_node() -> None:
    """
    Six of ten cores taken: a hog where eight are busy, nobody's business where they alone are.
    """
    (hog,) = found(*hogging(8, 6), kind="hog")
    assert ("alice", "c1", 18.0) == (hog.user, hog.object, hog.hours)
    assert [] == found(*hogging(4.9, 4.9), kind="hog")
    assert [] == found(*hogging(8, 3), kind="hog")


def test_a_job_is_no_hog() -> None:
    """
    What runs as a job was given its cores.
    """
    assert [] == found(*hogging(8, 6, **{"job.id": "fox/7"}), kind="hog")


def test_strays_are_outside_any_job_of_their_user() -> None:
    """
    On a node with jobs, a process of somebody without one is a stray; beside an own job it is not.
    """
    others = [process(h + 0.1, 1, **{"user.name": "bob", "job.id": "fox/8"}) for h in range(3)]
    alone = [process(h + 0.1) for h in range(3)]
    (stray,) = found(*others, *alone, kind="stray")
    assert ("alice", "c1: work") == (stray.user, stray.object)
    own = [process(h + 0.2, 2, **{"job.id": "fox/9"}) for h in range(3)]
    assert [] == found(*others, *alone, *own, kind="stray")
    assert [] == found(*alone, kind="stray")
    system = [process(h + 0.1, **{"user.id": "0", "user.name": "root"}) for h in range(3)]
    assert [] == found(*others, *system, kind="stray")


def test_dead_weight_and_zombies() -> None:
    """
    An orphan that holds memory and uses no CPU; a defunct process. A busy orphan is neither.
    """
    held = {"process.parent.pid": 1, "memory.rss.bytes": 2**31}
    idle = [process(h + 0.1, core_seconds=0.0, **held) for h in range(5)]
    busy = [process(h + 0.1, core_seconds=900.0, **held) for h in range(5)]
    assert ["dead weight"] == [one.kind for one in found(*idle, kind="dead weight")]
    assert [] == found(*busy, kind="dead weight")
    assert [] == found(*[{k: v for k, v in d.items() if k != "core_seconds"} for d in idle],
                       kind="dead weight")  # fmt: skip
    dead = [process(h, **{"process.state": "Z"}) for h in (1, 2)]
    assert ["defunct in 2 samples"] == [one.evidence for one in found(*dead, kind="zombie")]
    moment = [process(h, h, **{"process.state": "Z"}) for h in (1, 2)]
    assert [] == found(*moment, kind="zombie"), "two processes, each dead for a moment"


def card(busy: float, number: int = 0) -> Document:
    return {**process(2), "dataset": "gpu", "gpu.uuid": f"u{number}", "gpu_seconds": busy * 3600}


def test_idle_gpus_need_somebody_who_looked() -> None:
    """
    Two GPUs for eight hours unused on a watched node; nothing is said where nobody watched.
    """
    seen = [process(h + 0.5, core_seconds=10.0, **{"job.id": "fox/7"}) for h in range(1, 9)]
    told = job(**{"job.gpus": 2})
    watched = {k: v for k, v in card(0.0).items() if k in ("dataset", "@timestamp", "cluster",
               "host.name", "boot.id", "sample.uptime", "gpu.uuid", "gpu_seconds")}  # fmt: skip
    (idle,) = found(told, *seen, watched, kind="idle GPUs")
    assert (16.0, "GPU hours") == (idle.hours, idle.unit)
    assert "GPUs allocated: 2, used: none in 8 h" == idle.evidence
    assert [] == found(told, *seen, kind="idle GPUs")
    assert [] == found(told, *seen, {**watched, "cluster": "betzy"}, kind="idle GPUs")
    assert [] == found(told, {**seen[0], "gpu_seconds": 50.0}, *seen[1:], watched, kind="idle GPUs")
    assert [] == found(told, *seen[:3], watched, kind="idle GPUs"), "seen for two hours of eight"
    short = job(**{"job.gpus": 2, "job.wall.seconds": 600.0})
    assert [] == found(short, *seen, watched, kind="idle GPUs")


def test_a_card_whose_use_nobody_tells_is_not_idle() -> None:
    """
    AMD's and MIG's drivers do not say how busy a process keeps a card that it has open.
    """
    seen = [process(h + 0.5, **{"job.id": "fox/7", "gpu.count": 1}) for h in range(1, 9)]
    card = {**process(2), "dataset": "gpu", "gpu.uuid": "u0", "gpu.processes": 1}
    told = job(**{"job.gpus": 2})
    assert [] == found(told, *seen, card, kind="idle GPUs")
    closed = [{k: v for k, v in one.items() if k != "gpu.count"} for one in seen]
    assert 1 == len(found(told, *closed, card, kind="idle GPUs"))


def test_what_is_at_stake_lies_in_the_time_asked_about() -> None:
    """
    A run of five days whose cards lay idle today: today's hours, since today.
    """
    gone = ("job.end", "job.wall.seconds")
    told = {k: v for k, v in job(**{"job.gpus": 2, "job.start": at(-96)}).items() if k not in gone}
    seen = [process(h + 0.5, gpu_seconds=0.0, **{"job.id": "fox/7"}) for h in range(24)]
    (idle,) = found(told, *seen, kind="idle GPUs")
    assert (48.0, at(0)) == (idle.hours, idle.since)


def test_waste_needs_share_and_hours() -> None:
    """
    Half of 800 core hours unused is told; of 8 it is noise; without a figure nothing is.
    """
    big = {"job.core_seconds.allocated": 800 * 3600.0, "job.core_seconds.used": 400 * 3600.0}
    (waste,) = found(job(**big), kind="unused cores")
    assert 400.0 == waste.hours
    small = {"job.core_seconds.allocated": 8 * 3600.0, "job.core_seconds.used": 4 * 3600.0}
    assert [] == found(job(**small), kind="unused cores")
    unknown = {"job.core_seconds.allocated": 800 * 3600.0}
    assert [] == found(job(**unknown), kind="unused cores")


def test_short_jobs_are_folded_unless_many() -> None:
    """
    A few short jobs are noise; hundreds of one user are one finding.
    """
    short = {"job.wall.seconds": 5.0, "job.core_seconds.allocated": 5.0}
    many = [job(**short, **{"job.run": f"fox/{n}@1", "job.id": f"fox/{n}"}) for n in range(500)]
    assert 1 == len(found(*many, kind="many short jobs"))
    assert [] == found(*many[:499], kind="many short jobs")


def test_a_finding_keeps_its_name_while_it_grows() -> None:
    """
    What is counted is in the evidence, not in the name: more of it is the same finding still.
    """
    short = [
        job(**{"job.run": f"fox/7@{n}", "job.wall.seconds": 5.0, "job.core_seconds.allocated": 5.0})
        for n in range(600)
    ]
    few, many = (found(*short[:n], kind="many short jobs") for n in (500, 600))
    assert few[0].object == many[0].object == "short jobs of alice"
    assert few[0].evidence != many[0].evidence


def test_past_its_limit() -> None:
    """
    A run without an end, longer than it asked for.
    """
    running = {k: v for k, v in job().items() if k not in ("job.end", "job.wall.seconds")}
    late = {**running, "job.limit.seconds": 20 * 3600.0}
    assert "3.0 h past" in found(late, kind="past its limit")[0].evidence
    assert [] == found({**late, "job.limit.seconds": 25 * 3600.0}, kind="past its limit")


def test_silent_nodes() -> None:
    """
    A node that was heard and is not any more; one that is heard is not named.
    """
    heard = [node(h + 0.5, host="c2") for h in range(24)]
    gone = [node(h + 0.5) for h in range(12)]
    (silent,) = found(*heard, *gone, kind="silent node")
    assert ("c1", at(11.5)) == (silent.object, silent.since)


def test_nothing_stored_nothing_found() -> None:
    """
    An empty store has no findings and no errors; the table has its columns.
    """
    assert [] == found()
    told = rows(found(*hogging(8, 6)))
    assert {"kind", "object", "evidence", "remedy", "hours", "since"} <= told[0].keys()


def test_two_machines_under_one_name() -> None:
    """
    Boots that run at once are two machines; boots that follow each other are one.
    """
    one = [node(h + 0.5, **{"boot.id": "a"}) for h in range(10)]
    other = [node(h + 0.7, **{"boot.id": "b"}) for h in range(5, 15)]
    (same,) = found(*one, *other, kind="same name")
    assert ("c1", at(5.7), at(9.5)) == (same.object, same.since, same.until)
    rebooted = [node(h + 0.7, **{"boot.id": "b"}) for h in range(10, 15)]
    assert [] == found(*one, *rebooted, kind="same name")


def test_accounts_that_differ_are_told() -> None:
    """
    Samples saw a quarter of what was accounted for the run; where they agree nothing is said.
    """
    accounted = job(**{"job.core_seconds.used": 40 * 3600.0})
    few = [process(h + 0.5, core_seconds=1.25 * 3600, **{"job.id": "fox/7"}) for h in range(1, 9)]
    (told,) = found(accounted, *few, kind="accounts differ")
    assert (30.0, "samples and accounts") == (told.hours, told.object)
    assert "samples saw 25.0 % of the 40.0 core hours accounted" in told.evidence
    all_of_it = [
        process(h + 0.5, core_seconds=5 * 3600.0, **{"job.id": "fox/7"}) for h in range(1, 9)
    ]
    assert [] == found(accounted, *all_of_it, kind="accounts differ")
    assert [] == found(accounted, kind="accounts differ"), "nothing is sampled there at all"
    late = process(10.5, core_seconds=60.0, **{"job.id": "fox/8"})
    assert [] == found(accounted, late, kind="accounts differ"), "before the first sample"


def test_a_silent_cluster_is_one_finding() -> None:
    """
    Twelve of twenty nodes fell silent: one line that names them; two of twenty: one each.
    """
    nodes = [f"c{number}" for number in range(20)]
    heard = [node(h + 0.5, host=host) for host in nodes[12:] for h in range(24)]
    gone = [node(3.5, host=host) for host in nodes[:12]]
    (one,) = found(*heard, *gone, kind="silent node")
    assert ("most of its nodes", at(3.5)) == (one.object, one.since)
    assert one.evidence.startswith(
        "12 of 20 nodes without a heartbeat for 20:30 or longer: c0, c1,"
    )
    few = [node(h + 0.5, host=host) for host in nodes[2:] for h in range(24)]
    assert ["c0", "c1"] == [one.object for one in found(*few, *gone[:2], kind="silent node")]
