"""
Captures of a real Slurm 22.05, and what a machine with Slurm answers.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shipper.collectors.slurm import asking, from_json, from_text
from shipper.collectors.slurm.pyslurm_dump import JOB, NODE, RESERVATION
from shipper.collectors.slurm.records import Look
from tests.schedulers.slurm import RealSlurm, missing
from tests.shipper.fake import FakeSystem
from tests.shipper.slurm.real import Watch

CAPTURES = Path(__file__).parent / "captures"
TAKEN = 1795241388  # after the last thing that the captures tell of


def capture(name: str) -> bytes:
    return (CAPTURES / f"slurm_22.05_{name}").read_bytes()


def by_json() -> Look:
    return Look(
        from_json.read_jobs(capture("jobs.json")),
        from_json.read_nodes(capture("nodes.json")),
        from_text.read_reservations(capture("reservations.txt")),
    )


def by_text() -> Look:
    return Look(
        from_text.read_jobs(capture("jobs.txt")),
        from_text.read_nodes(capture("nodes.txt")),
        from_text.read_reservations(capture("reservations.txt")),
    )


def fake_pyslurm() -> Any:
    """
    The module as 25.11 was recorded: attribute names and types of recipes, values of the capture.
    """

    class Counted:
        def __init__(self, count: int) -> None:
            self.count = count

    def cards(entries: Any) -> dict[str, Counted]:
        found = {f"{g.name}:{g.type}": Counted(g.count) for g in entries}
        return {"gpu": Counted(sum(g.count for g in entries)), **found} if found else {}

    def numbers(entries: Any) -> dict[str, int]:
        return {name: counted.count for name, counted in cards(entries).items()}

    look = by_json()
    jobs = {}
    for one in look.jobs:
        jobs[one.id] = SimpleNamespace(**dict.fromkeys(JOB))
        jobs[one.id].__dict__.update(
            id=one.id, state=one.state, state_reason=one.reason or "None", submit_time=one.submit,
            eligible_time=one.eligible, start_time=one.start, end_time=one.end,
            time_limit=one.limit and one.limit // 60, user_name=one.user, user_id=one.uid,
            group_name=one.group, account=one.account, partition=one.partition, qos=one.qos,
            name=one.name, cpus=one.cpus, num_nodes=one.node_count, allocated_nodes=one.nodes,
            gpus=cards(one.gpus), priority=one.priority, array_id=one.array_id,
            array_task_id=one.array_task, working_directory=one.work_dir,
        )  # fmt: skip
    nodes = {}
    for n in look.nodes:
        nodes[n.name] = SimpleNamespace(**dict.fromkeys(NODE))
        nodes[n.name].__dict__.update(
            name=n.name, state="+".join((n.state, *n.flags)), reason=n.reason,
            reason_user=n.reason_user, reason_time=n.reason_time, partitions=list(n.partitions),
            available_features=list(n.features), total_cpus=n.cpus, cores_per_socket=4, sockets=2,
            allocated_cpus=n.cpus_allocated, real_memory=(n.memory or 0) >> 20,
            allocated_memory=(n.memory_allocated or 0) >> 20,
            configured_gres={f"{g.name}:{g.type}": g.count for g in n.gres},
            allocated_gres=numbers(n.gres_used),
        )  # fmt: skip
    reservations = {}
    for r in look.reservations or []:
        reservations[r.name] = SimpleNamespace(**dict.fromkeys(RESERVATION))
        reservations[r.name].__dict__.update(
            name=r.name, start_time=r.start, end_time=r.end, nodes=r.nodes, users=list(r.users),
            accounts=[], partition=r.partition, flags=SimpleNamespace(name="|".join(r.flags)),
        )  # fmt: skip
    return SimpleNamespace(
        __version__="25.11.2",
        Jobs=SimpleNamespace(load=lambda: jobs),
        Nodes=SimpleNamespace(load=lambda: nodes),
        Reservations=SimpleNamespace(load=lambda: reservations),
    )


@pytest.fixture
def slurm_machine(system: FakeSystem) -> FakeSystem:
    """
    A machine with the commands of Slurm 22.05: no pyslurm, scontrol without JSON.
    """
    system.outputs["sinfo -V"] = b"slurm 22.05.8\n"
    answers = {
        asking.JOBS["json"]: "jobs.json",
        asking.JOBS["text"]: "jobs.txt",
        asking.NODES["json, old"]: "nodes.json",
        asking.NODES["text"]: "nodes.txt",
        asking.RESERVATIONS["text"]: "reservations.txt",
    }
    for (command, _), name in answers.items():
        system.outputs[" ".join(command)] = capture(name)
    return system


@pytest.fixture(scope="session")
def slurm() -> Iterator[RealSlurm]:
    if (why := missing()) is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="leadline-slurm-"))  # one that jobs' users may enter
    real = RealSlurm(folder)
    try:
        real.start()
        yield real
    finally:
        real.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def watch(slurm: RealSlurm) -> Watch:
    return Watch(slurm)
