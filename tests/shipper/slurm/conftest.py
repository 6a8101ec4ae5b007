"""
Captures of a real Slurm 22.05, and what a machine with Slurm answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shipper.collectors.slurm import asking, from_json, from_text
from shipper.collectors.slurm.records import Look
from tests.schedulers.real import started
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
    with started(RealSlurm, missing()) as real:
        yield real


@pytest.fixture(scope="session")
def watch(slurm: RealSlurm) -> Watch:
    return Watch(slurm)
