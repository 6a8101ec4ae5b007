"""
NVIDIA cards, by a fake NVML with an A100's answers: no card is needed, and none is used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from shipper.settings import ProcessSettings
from shipper.snapshot import Snapshots
from tests.shipper.conftest import of
from tests.shipper.fake import FakeSystem
from tests.shipper.fake_nvml import MIB, Card, FakeNvml, process, sample

Start = Callable[..., Snapshots]
WITH = ("process", "node", "nvidia")


def watch(system: FakeSystem, start: Start, *cards: Card, **settings: object) -> Snapshots:
    system.put("/proc/driver/nvidia/version", "NVRM version: 550.54.15")
    system.libraries["pynvml"] = FakeNvml(*cards)
    return start(collectors=WITH, **settings)


def test_a_card_tells_its_state(system: FakeSystem, start: Start) -> None:
    """
    Every gauge of a healthy card; a passive one has no fan and says so by silence.
    """
    card = Card("GPU-1")
    card.fields = {197: 1000, 198: 5000}
    snapshots = watch(system, start, card)
    snapshots.take()
    system.pass_time(60)
    card.fields = {197: 1500, 198: 5900}
    card.answers["TotalEnergyConsumption"] = 16_030_000
    (told,) = of(snapshots.take(), "gpu")
    about = ("gpu", "power", "energy", "temperature")
    assert {name: value for name, value in told.items() if name.startswith(about)} == {
        "gpu.uuid": "GPU-1",
        "gpu.index": 0,
        "gpu.vendor": "nvidia",
        "gpu.model": "NVIDIA A100-SXM4-40GB",
        "gpu.driver": "550.54.15",
        "gpu.address": "00000000:07:00.0",
        "gpu.percent": 50,
        "gpu_seconds": 30.0,
        "gpu.memory.busy.percent": 20,
        "gpu.memory.bytes": 10240 * MIB,
        "gpu.memory.total.bytes": 40960 * MIB,
        "gpu.memory.percent": 25.0,
        "temperature.celsius": 61,
        "power.watts": 250.5,
        "power.limit.watts": 400.0,
        "gpu.clock.core": 1410,
        "gpu.clock.memory": 1410,
        "gpu.mode": "default",
        "gpu.performance_state": "P0",
        "energy.joules": 15030.0,
        "gpu.ecc.corrected": 0,
        "gpu.ecc.uncorrected": 0,
        "gpu.pcie.in.bytes": 900,
        "gpu.pcie.out.bytes": 500,
        "gpu.failing": False,
        "gpu.processes": 0,
    }  # fmt: skip


def test_a_process_on_a_card_is_known(system: FakeSystem, start: Start) -> None:
    """
    User, command and job of the process, and in the process's own document its share of all cards.
    """
    system.process(300, command=b"python\0train.py\0", cgroup="0::/slurm/uid_1/job_7/step_0\n")
    cards = [Card("GPU-1"), Card("GPU-2")]
    for card in cards:
        card.processes = [process(300, 2048)]
    snapshots = watch(system, start, *cards)
    snapshots.take()
    system.pass_time(60)
    cards[0].samples = [sample(300, 1, 40), sample(300, 2, 60)]
    documents = snapshots.take()
    on_first, on_second = of(documents, "process_gpu")
    assert (on_first["gpu.percent"], on_first["gpu_seconds"]) == (50.0, 30.0)
    assert (on_second["gpu.percent"], on_second["gpu_seconds"]) == (0.0, 0.0)
    assert (on_first["user.name"], on_first["job.local_id"]) == ("alice", "7")
    assert on_first["gpu.memory.percent"] == 5.0
    (whole,) = of(documents, "process")
    assert whole["process.entity_id"] == on_first["process.entity_id"]
    assert (whole["gpu.count"], whole["gpu.memory.bytes"]) == (2, 4096 * MIB)
    assert (whole["gpu_seconds"], whole["gpu_held_seconds"]) == (30.0, 120.0)


def test_a_process_that_let_go_has_no_card(system: FakeSystem, start: Start) -> None:
    """
    What it had a tick ago is not told again.
    """
    system.process(300)
    card = Card("GPU-1")
    card.processes = [process(300, 2048)]
    snapshots = watch(system, start, card)
    snapshots.take()
    card.processes = []
    system.pass_time(60)
    (told,) = of(snapshots.take(), "process")
    assert {"gpu.count", "gpu.memory.bytes", "gpu_seconds"}.isdisjoint(told)


def test_a_filtered_process_is_not_told_by_its_card(system: FakeSystem, start: Start) -> None:
    """
    What a filter leaves out stays out of process_gpu as well; an unknown pid is kept.
    """
    system.process(300)
    card = Card("GPU-1")
    card.processes = [process(300, 1), process(999, None)]
    snapshots = watch(system, start, card, process=ProcessSettings(exclude_users=("alice",)))
    (told,) = of(snapshots.take(), "process_gpu")
    assert told["process.entity_id"] == "999-0"
    assert "gpu.memory.bytes" not in told


def test_a_hung_process_collector_costs_the_cards_nothing(system: FakeSystem, start: Start) -> None:
    """
    Who is on a card is known from the look before; one born since is told by its pid. Without a
    process collector all are.
    """
    go_on = threading.Event()
    system.process(300, cgroup="0::/slurm/uid_1/job_7/step_0\n")
    card = Card("GPU-1")
    card.processes = [process(300, 2048), process(301, 1)]
    snapshots = watch(system, start, card, deadline=0.2)
    snapshots.take()
    pids = system.pids

    def hang() -> list[int]:
        go_on.wait(10)
        return pids()

    system.pids = hang  # type: ignore[method-assign]
    system.pass_time(60)
    card.samples = [sample(300, 1, 40)]
    documents = snapshots.take()
    go_on.set()
    assert ["shipper.process"] == [event["rule.name"] for event in of(documents, "event")]
    known, unknown = of(documents, "process_gpu")
    assert (known["user.name"], known["job.local_id"]) == ("alice", "7")
    assert known["gpu_seconds"] == 24.0
    assert unknown["process.entity_id"] == "301-0"
    alone = start(collectors=("nvidia",))
    assert ["300-0", "301-0"] == [p["process.entity_id"] for p in of(alone.take(), "process_gpu")]


def test_rolled_up_processes_sum_their_cards(system: FakeSystem, start: Start) -> None:
    """
    Four like workers on one card hold it four times.
    """
    card = Card("GPU-1")
    for pid in range(300, 304):
        system.process(pid, session=300)
        card.processes.append(process(pid, 100))
    snapshots = watch(system, start, card)
    snapshots.take()
    system.pass_time(60)
    (told,) = of(snapshots.take(), "process")
    assert (told["process.count"], told["gpu.count"], told["gpu_held_seconds"]) == (4, 4, 240.0)
    assert told["gpu.memory.bytes"] == 400 * MIB


def test_a_lost_card_is_failing(system: FakeSystem, start: Start) -> None:
    """
    A card that fell off the bus is told with what was known of it, without any measurement.
    """
    card = Card("GPU-1")
    snapshots = watch(system, start, card)
    snapshots.take()
    card.lost = True
    (told,) = of(snapshots.take(), "gpu")
    assert told["gpu.failing"] is True
    assert "lost" in str(told["gpu.failing_reason"])
    assert "gpu.percent" not in told


def test_failing_has_reasons(system: FakeSystem, start: Start) -> None:
    """
    Remapping that failed and a grave XID fail a card; a program's own XID does not.
    """
    sick, fine = Card("GPU-1", RemappedRows=(0, 1, 0, 1)), Card("GPU-2")
    snapshots = watch(system, start, sick, fine)
    nvml = system.libraries["pynvml"]
    assert isinstance(nvml, FakeNvml)
    nvml.events = [
        type("Event", (), {"device": sick, "eventData": 79})(),
        type("Event", (), {"device": fine, "eventData": 31})(),
    ]
    first, second = of(snapshots.take(), "gpu")
    assert first["gpu.failing_reason"] == "row remapping failed; XID 79"
    assert second["gpu.failing"] is False


def test_mig_instances_are_cards(system: FakeSystem, start: Start) -> None:
    """
    Each instance has its own memory and processes; utilisation is not known, so not told.
    """
    card = Card("GPU-1", UtilizationRates=None)
    small = {"used": 100 * MIB, "total": 4864 * MIB}
    memory = type("Memory", (), small)()
    card.instances = [Card("MIG-1", Name="NVIDIA A100-SXM4-40GB MIG 1g.5gb", MemoryInfo=memory)]
    card.instances[0].processes = [process(300, 90)]
    system.process(300)
    documents = watch(system, start, card).take()
    whole, instance = of(documents, "gpu")
    assert "gpu.percent" not in whole
    assert (instance["gpu.uuid"], instance["gpu.mig"]) == ("MIG-1", "1g.5gb")
    assert instance["gpu.memory.total.bytes"] == 4864 * MIB
    (told,) = of(documents, "process_gpu")
    assert told["gpu.uuid"] == "MIG-1"
    assert "gpu.percent" not in told


def test_nvlink_is_an_interface(system: FakeSystem, start: Start) -> None:
    """
    All links of a card together, as deltas in bytes.
    """
    card = Card("GPU-1")
    card.fields = {(138, 0xFFFFFFFF): 10, (139, 0xFFFFFFFF): 20}
    snapshots = watch(system, start, card)
    snapshots.take()
    card.fields = {(138, 0xFFFFFFFF): 12, (139, 0xFFFFFFFF): 25}
    system.pass_time(60)
    (told,) = of(snapshots.take(), "network")
    assert told["interface.name"] == "nvlink/gpu0"
    assert (told["network.out.bytes"], told["network.in.bytes"]) == (2048, 5120)


def test_without_a_card_nvml_is_not_loaded(system: FakeSystem, start: Start) -> None:
    """
    A node without NVIDIA on its bus is silent and pays nothing for the library; with a card there,
    what is missing has a name.
    """
    system.libraries["pynvml"] = FakeNvml(Card("GPU-1"))
    assert "no NVIDIA card" in start(collectors=WITH).unavailable["nvidia"]
    system.put("/sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n")
    assert "nvidia" not in start(collectors=WITH).unavailable


def test_without_a_driver_it_is_silent(system: FakeSystem, start: Start) -> None:
    """
    No library, or one that does not start, is no event: `leadline doctor` tells.
    """
    system.put("/dev/nvidiactl", "")
    without = start(collectors=WITH)
    assert "nvidia-ml-py" in without.unavailable["nvidia"]
    system.libraries["pynvml"] = FakeNvml(works=False)
    broken = start(collectors=WITH)
    assert "does not start" in broken.unavailable["nvidia"]
    assert of(broken.take(), "event") == []
