"""AMD's and Intel's cards, by the files their kernel drivers show and their tools' JSON."""

from __future__ import annotations

from collections.abc import Callable

from shipper.snapshot import Snapshots
from tests.shipper.conftest import of
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]
CARD = "/sys/class/drm/card0"
AMD_SMI = (
    b'[{"gpu": 0, "asic": {"market_name": "AMD Instinct MI250X", "vendor_id": "0x1002"},'
    b' "bus": {"bdf": "0000:C1:00.0"}}]'
)
ROCM_SMI = b'{"card0": {"Card Series": "Instinct MI100", "PCI Bus": "0000:C1:00.0"}}'


def put_card(system: FakeSystem, vendor: str, **files: str) -> None:
    system.put(f"{CARD}/device/vendor", f"{vendor}\n")
    system.put(f"{CARD}/device/uevent", "DRIVER=x\nPCI_SLOT_NAME=0000:c1:00.0\n")
    for name, text in files.items():
        system.put(f"{CARD}/device/{name.replace('__', '/')}", text)


def amd(system: FakeSystem) -> None:
    put_card(
        system, "0x1002",
        unique_id="8f1ac1", gpu_busy_percent="75", mem_info_vram_used="4096",
        mem_info_vram_total="65536", pp_dpm_sclk="0: 500Mhz\n1: 1700Mhz *\n",
        hwmon__hwmon3__temp1_input="51000", hwmon__hwmon3__power1_average="300000000",
        hwmon__hwmon3__energy1_input="1000000", ras__umc_err_count="ue: 0\nce: 5\n",
        drm__renderD128__dev="1",
    )  # fmt: skip
    system.put("/sys/class/kfd/kfd/topology/nodes/1/properties", "drm_render_minor 128\nx 1\n")
    system.put("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51234\n")
    system.put("/sys/class/kfd/kfd/proc/300/vram_51234", "2048\n")


def test_an_amd_card_by_sysfs(system: FakeSystem, start: Start) -> None:
    """
    Utilisation, memory, clock, temperature, power, energy, health, and the processes on it.
    """
    amd(system)
    system.process(300)
    system.outputs["amd-smi static --asic --bus --json"] = AMD_SMI
    snapshots = start(collectors=("process", "amd"))
    snapshots.take()
    system.put(f"{CARD}/device/hwmon/hwmon3/energy1_input", "19000000")
    system.pass_time(60)
    documents = snapshots.take()
    (card,) = of(documents, "gpu")
    assert card["gpu.model"] == "AMD Instinct MI250X"
    assert (card["gpu.uuid"], card["gpu.address"]) == ("GPU-8f1ac1", "0000:c1:00.0")
    assert (card["gpu.percent"], card["gpu_seconds"], card["gpu.memory.percent"]) == (75, 45, 6.25)
    assert (card["gpu.clock.core"], card["temperature.celsius"]) == (1700, 51)
    assert (card["power.watts"], card["energy.joules"]) == (300, 18)
    assert (card["gpu.failing"], card["gpu.processes"]) == (False, 1)
    (told,) = of(documents, "process_gpu")
    assert (told["user.name"], told["gpu.memory.bytes"]) == ("alice", 2048)
    assert "gpu.percent" not in told


def test_an_amd_card_by_the_older_tool(system: FakeSystem, start: Start) -> None:
    """
    rocm-smi names the card where amd-smi is not there; uncorrected errors make it failing.
    """
    amd(system)
    system.put(f"{CARD}/device/ras/umc_err_count", "ue: 2\nce: 5\n")
    command = "rocm-smi --showproductname --showbus --showuniqueid --json"
    system.outputs[command] = ROCM_SMI
    (card,) = of(start(collectors=("amd",)).take(), "gpu")
    assert card["gpu.model"] == "Instinct MI100"
    assert card["gpu.failing_reason"] == "2 uncorrected memory errors"


def test_a_tool_that_prints_nonsense_names_nothing(system: FakeSystem, start: Start) -> None:
    """
    The card is measured all the same.
    """
    amd(system)
    system.outputs["amd-smi static --asic --bus --json"] = b"Segmentation fault"
    (card,) = of(start(collectors=("amd",)).take(), "gpu")
    assert "gpu.model" not in card
    assert card["gpu.percent"] == 75


def test_an_intel_card_by_sysfs(system: FakeSystem, start: Start) -> None:
    """
    Clock, memory and power; utilisation is not to be had, so it is absent.
    """
    put_card(system, "0x8086", device="0x0bd5", hwmon__hwmon2__power1_max="600000000")
    system.put(f"{CARD}/gt_act_freq_mhz", "1550\n")
    system.put(f"{CARD}/lmem_total_bytes", "1000\n")
    system.put(f"{CARD}/lmem_avail_bytes", "600\n")
    (card,) = of(start(collectors=("intel",)).take(), "gpu")
    assert (card["gpu.vendor"], card["gpu.model"]) == ("intel", "Intel 0bd5")
    assert (card["gpu.clock.core"], card["gpu.memory.bytes"]) == (1550, 400)
    assert card["power.limit.watts"] == 600
    assert "gpu.percent" not in card


def test_without_cards_both_are_silent(start: Start) -> None:
    """
    A machine without such a card says so to `leadline doctor` only.
    """
    snapshots = start(collectors=("amd", "intel"))
    assert set(snapshots.unavailable) == {"amd", "intel"}
