"""The collector as the shipper runs it: on one machine, gently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.formats import Document
from leadline.settings import Duration
from shipper.collectors.slurm import asking
from shipper.collectors.slurm.asking import Asking
from shipper.collectors.slurm.pyslurm_dump import dump
from shipper.settings import CollectSettings, SlurmLiveSettings
from shipper.snapshot import Snapshots
from tests.shipper.fake import FakeSystem
from tests.shipper.slurm.conftest import TAKEN
from tests.shipper.slurm.fake_pyslurm import fake_pyslurm


class Counting(FakeSystem):
    """
    Notes each call of a command, and takes as long for it as it is told to.
    """

    calls: list[str]
    seconds = 0.0

    def run(self, command: Sequence[str], timeout: float = 10.0) -> bytes | None:
        name = next(word for word in command if word != "env" and "=" not in word)
        if "-V" not in command:
            self.calls.append(Path(name).name)
            self.now += min(self.seconds, timeout)
            if self.seconds > timeout:
                return None
        return super().run(command, timeout)


@pytest.fixture
def machine(slurm_machine: FakeSystem) -> Counting:
    counting = Counting(Path(slurm_machine.root))
    counting.outputs = slurm_machine.outputs
    counting.calls = []
    counting.wall_offset = TAKEN - counting.wall()
    return counting


def watch(machine: FakeSystem, **settings: object) -> Snapshots:
    live = SlurmLiveSettings(**{"enabled": True, "source": "json", **settings})  # type: ignore[arg-type]
    return Snapshots(
        CollectSettings(collectors=("slurm",), slurm_live=live, cluster="fox"), machine
    )


def datasets(documents: list[Document]) -> Counter[str]:
    return Counter(str(document["dataset"]) for document in documents)


def test_a_node_does_not_ask_unless_told() -> None:
    """
    Thousands of shippers have these settings by default: none of them calls squeue.
    """
    assert not CollectSettings().slurm_live.enabled


def test_disabled_and_missing_are_told_apart(machine: Counting) -> None:
    """
    `leadline doctor` says which of the two it is.
    """
    assert "enabled" in watch(machine, enabled=False).unavailable["slurm"]
    machine.outputs["sinfo -V"] = None
    assert "no Slurm" in watch(machine).unavailable["slurm"]


def test_documents_speak_of_the_cluster_not_of_this_host(machine: Counting) -> None:
    """
    The nodes' names and the states' own times stay; only the sender is added.
    """
    found = watch(machine).take()
    nodes = [d for d in found if d["dataset"] == "node_state"]
    assert ["n1", "n2", "n3"] == sorted(str(d["host.name"]) for d in nodes)
    assert {"fox"} == {d["cluster"] for d in found}
    assert not [d for d in nodes if "boot.id" in d or "interval.seconds" in d]
    (tick,) = [d for d in found if d["dataset"] == "node"]
    assert 3 == tick["slurm.nodes"]
    assert "boot.id" in tick


def test_one_call_of_each_kind(machine: Counting) -> None:
    """
    Once it is known what this Slurm can do, a look is nodes, jobs, reservations; sacct for those
    that ended.
    """
    snapshots = watch(machine)
    snapshots.take()
    machine.calls.clear()
    machine.pass_time(60)
    snapshots.take()
    assert Counter(machine.calls) == {"sinfo": 1, "squeue": 1, "scontrol": 1, "sacct": 1}


def test_between_its_times_it_asks_nothing(machine: Counting) -> None:
    """
    A shipper that ticks each 10 s asks slurmctld each minute.
    """
    snapshots = watch(machine)
    snapshots.take()
    machine.calls.clear()
    machine.pass_time(10)
    assert {"node": 1} == datasets(snapshots.take())
    assert [] == machine.calls


def test_slow_slurmctld_is_asked_less_often(machine: Counting) -> None:
    """
    Answers that take long double the wait; quick ones end it.
    """
    machine.seconds = 2.5
    snapshots = watch(machine, slow=Duration(4), accounting=False)
    snapshots.take()
    machine.calls.clear()
    machine.pass_time(60)
    snapshots.take()
    assert [] == machine.calls
    machine.pass_time(60)
    machine.seconds = 0.0
    snapshots.take()
    assert machine.calls
    machine.calls.clear()
    machine.pass_time(60)
    snapshots.take()
    assert machine.calls


def test_silent_slurmctld_is_told(machine: Counting) -> None:
    """
    No states are made up: an event says that nobody looked, and the other documents go out.
    """
    machine.seconds = 1000.0
    found = watch(machine).take()
    assert {"event": 1, "node": 1} == datasets(found)
    (event,) = [d for d in found if d["dataset"] == "event"]
    assert "slurmctld did not answer" in str(event["event.reason"])
    assert "slurm.nodes" not in found[-1]


def test_calls_share_one_time_limit(machine: Counting) -> None:
    """
    However slow each of them is, a look ends before the shipper's deadline.
    """
    machine.seconds = 3.0
    begun = machine.now
    watch(machine).take()
    assert machine.now - begun <= CollectSettings().deadline


def test_pyslurm_is_tried_once(machine: Counting) -> None:
    """
    Where it is not there, the commands are used, and it is not looked for again.
    """
    snapshots = watch(machine, source="auto")
    assert 3 == datasets(snapshots.take())["node_state"]
    assert machine.calls.count(Path(asking.PYSLURM[0]).name) == 1
    machine.pass_time(60)
    snapshots.take()
    assert machine.calls.count(Path(asking.PYSLURM[0]).name) == 1


def dumped(machine: Counting, output: bytes | None) -> None:
    machine.outputs[" ".join((*asking.PYSLURM, "22.05.8"))] = output


def test_pyslurm_of_another_slurm_is_not_asked(machine: Counting) -> None:
    """
    It refuses by itself, told which version runs; why is kept for `leadline doctor`.
    """
    dumped(machine, b'{"refused": "pyslurm 25.11.2 is built for another Slurm"}')
    asks = Asking(machine, SlurmLiveSettings(enabled=True))
    assert asks.look(machine.uptime() + 8) is not None
    assert "another Slurm" in asks.pyslurm_problem
    assert "nodes by json, jobs by json, reservations by text" == asks.ways


def test_pyslurm_that_answers_is_enough(machine: Counting) -> None:
    """
    No command asks slurmctld; once it fails, they do, and it gets another chance at the next look.
    """
    dumped(machine, orjson.dumps(dump(fake_pyslurm())))
    asks = Asking(machine, SlurmLiveSettings(enabled=True))
    assert asks.look(machine.uptime() + 8) is not None
    assert "pyslurm" == asks.ways
    assert not {"squeue", "scontrol"} & set(machine.calls)
    dumped(machine, None)
    assert asks.look(machine.uptime() + 8) is not None
    assert {"squeue", "scontrol"} <= set(machine.calls)
    dumped(machine, orjson.dumps(dump(fake_pyslurm())))
    assert asks.look(machine.uptime() + 8) is not None
    assert "pyslurm" == asks.ways


def test_doctor_says_how_slurm_is_asked() -> None:
    """
    Switched on, with no Slurm here: told with the reason, and that pyslurm is not installed.
    """
    options = ("--set", "collect.slurm_live.enabled=yes")
    with_path = {"PATH": "/nowhere"}
    output = CliRunner().invoke(cli, [*options, "doctor"], env=with_path).output
    assert "not used: pyslurm is not installed" in output
    assert "did not answer" in output


def test_without_accounting_squeue_tells_the_end(machine: Counting) -> None:
    """
    A cluster without slurmdbd: ended runs are whole as far as squeue knows.
    """
    found = watch(machine, accounting=False).take()
    (failed,) = [d for d in found if d["dataset"] == "job" and d["job.name"] == "fail"]
    assert (False, "FAILED", "squeue") == (
        failed["provisional"],
        failed["job.state"],
        failed["job.source"],
    )
    assert "sacct" not in machine.calls
