"""A shipper killed at any moment neither loses a change of state nor tells it twice."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from leadline.formats import Document
from leadline.formats.ids import document_id
from leadline.formats.validate import check
from shipper.collectors.slurm import asking
from shipper.settings import CollectSettings, SlurmLiveSettings
from shipper.snapshot import Snapshots
from tests.shipper.fake import FakeSystem
from tests.shipper.slurm.conftest import TAKEN, capture

LOOKS = 4


def at_look(number: int) -> tuple[bytes, bytes]:
    """
    Jobs and nodes as they are at a look: some change at each.
    """
    jobs, nodes = orjson.loads(capture("jobs.json")), orjson.loads(capture("nodes.json"))
    for place, job in enumerate(jobs["jobs"]):
        if place % LOOKS == number and job["job_state"] == "PENDING":
            job["state_reason"] = f"Reason{number}"
        if place % LOOKS < number and job["job_state"] == "RUNNING":
            job["job_state"] = "COMPLETED"
    nodes["nodes"][number % 3]["state_flags"] = ["DRAIN"]
    nodes["nodes"][number % 3]["reason"] = f"why {number}"
    return orjson.dumps(jobs), orjson.dumps(nodes)


class Killed:
    """
    A shipper whose looks are killed after so many documents came to the spool.
    """

    def __init__(self, machine: FakeSystem, state: Path) -> None:
        self._machine, self._state = machine, state
        self.spool: list[Document] = []
        self._snapshots = self._new()

    def _new(self) -> Snapshots:
        live = SlurmLiveSettings(enabled=True, source="json", accounting=False)
        settings = CollectSettings(collectors=("slurm",), slurm_live=live, cluster="fox")
        return Snapshots(settings, self._machine, self._state)

    def look(self, number: int, survive: int | None = None) -> int:
        """
        How many documents there were; only the first SURVIVE of them came to the spool.
        """
        jobs, nodes = at_look(number)
        self._machine.outputs[" ".join(asking.JOBS["json"][0])] = jobs
        self._machine.outputs[" ".join(asking.NODES["json, old"][0])] = nodes
        stream = self._snapshots.stream()
        if survive is None:
            made = [check(document) for document in stream]
            self.spool += made
            self._machine.pass_time(60)
            return len(made)
        if survive >= 0:
            self.spool += [check(next(stream)) for _ in range(survive)]
        self._snapshots.close()
        self._snapshots = self._new()
        self._machine.pass_time(60)
        return survive

    def told(self) -> dict[str, tuple[object, ...]]:
        """
        What the store would have of it: the same id is the same document.
        """
        names = ("dataset", "host.name", "job.local_id", "state.name", "state.reason", "snapshot")
        return {
            document_id({**d, "job.run": f"{d.get('job.local_id')}@{d.get('job.submit')}"}): tuple(
                str(d.get(name)) for name in names
            )
            for d in self.spool
            if d["dataset"] in ("job_state", "node_state")
        }


@pytest.fixture
def machine(slurm_machine: FakeSystem) -> FakeSystem:
    slurm_machine.wall_offset = TAKEN - slurm_machine.wall()
    return slurm_machine


def lived(machine: FakeSystem, state: Path, killed: int, survive: int) -> list[tuple[object, ...]]:
    begun = machine.now
    shipper = Killed(machine, state)
    for number in range(LOOKS):
        shipper.look(number, survive if number == killed else None)
    shipper.look(LOOKS - 1)
    machine.now = begun
    return sorted(shipper.told().values(), key=str)


@pytest.mark.parametrize("killed", range(LOOKS - 1))
def test_killed_between_memory_and_spool(machine: FakeSystem, tmp_path: Path, killed: int) -> None:
    """
    After the memory was written, and any number of documents came to the spool.
    """
    whole = lived(machine, tmp_path / "whole", killed=-1, survive=0)
    assert len(whole) > 15
    count = 25 if killed == 0 else 4
    for survive in range(1, count):
        found = lived(machine, tmp_path / f"{killed}-{survive}", killed, survive)
        assert whole == found, survive


def test_killed_before_anything(machine: FakeSystem, tmp_path: Path) -> None:
    """
    Before the memory was written: the next look finds the change, at its own time.
    """
    told = []
    for name, killed in (("whole", False), ("killed", True)):
        shipper = Killed(machine, tmp_path / name)
        shipper.look(0)
        if killed:
            shipper.look(1, survive=-1)
        shipper.look(1)
        told.append(sorted(shipper.told().values(), key=str))
        assert "why 1" in {one[4] for one in told[-1]}
    assert told[0] == told[1]


def test_power_lost(machine: FakeSystem, tmp_path: Path) -> None:
    """
    The machine comes back with another boot: what was told of jobs and nodes is remembered.
    """
    shipper = Killed(machine, tmp_path)
    shipper.look(0)
    before = shipper.told()
    machine.put("/proc/sys/kernel/random/boot_id", "99999999-2222-3333-4444-555555555555\n")
    after = Killed(machine, tmp_path)
    after.look(0)
    assert set(after.told()) <= set(before)
    after.spool.clear()
    after.look(1)
    after.look(1)
    assert after.told()
    assert not set(after.told()) & set(before)


def test_memory_of_another_version_is_left(machine: FakeSystem, tmp_path: Path) -> None:
    """
    It begins anew, rather than not at all.
    """
    shipper = Killed(machine, tmp_path)
    shipper.look(0)
    file = tmp_path / "counters.json"
    kept = orjson.loads(file.read_bytes())
    kept["lasting"]["slurm"] = {"changes": {"day": 1}, "ended": []}
    file.write_bytes(orjson.dumps(kept))
    assert Killed(machine, tmp_path).look(0) > 15
