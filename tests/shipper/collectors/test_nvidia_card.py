"""
NVIDIA's real library and a real card, where this machine has one; all other tests of the collector
use a fake with an A100's answers.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from leadline.formats import Document
from shipper.settings import CollectSettings
from shipper.snapshot import Snapshots
from shipper.system import System
from tests.shipper.conftest import of

HELD = 256 << 20
# The driver's own library, so that no framework is needed.
HOLD = f"""
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
card, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGet(ctypes.byref(card), 0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, card) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t({HELD})) == 0
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def snapshots() -> Iterator[Snapshots]:
    made = Snapshots(CollectSettings(collectors=("process", "nvidia")), System())
    if "nvidia" in made.unavailable:
        made.close()
        pytest.skip(f"no card here: {made.unavailable['nvidia']}; the fake one is tested")
    yield made
    made.close()


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    """
    A process that holds some of the first card's memory.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    if child.stdout.readline() != "held\n":
        child.communicate()
        pytest.skip("libcuda gives no memory here")
    yield child
    child.communicate()


def two_looks(snapshots: Snapshots) -> list[Document]:
    snapshots.take()
    time.sleep(1.5)
    return snapshots.take()


def test_a_real_card_tells_believable_figures(snapshots: Snapshots) -> None:
    """
    Who it is, what it holds, how warm it is and what it drew: nothing fails, nothing is unknown.
    """
    documents = two_looks(snapshots)
    assert of(documents, "event") == []
    cards = of(documents, "gpu")
    assert cards
    for card in cards:
        assert str(card["gpu.uuid"]).startswith(("GPU-", "MIG-"))
        assert {"gpu.model", "gpu.driver", "gpu.address"} <= set(card)
        if "gpu.mig" in card:
            continue
        total, used = card["gpu.memory.total.bytes"], card["gpu.memory.bytes"]
        assert isinstance(total, int)
        assert isinstance(used, int)
        assert 0 <= used <= total
        assert 0 < float(str(card["temperature.celsius"])) < 120
        assert 0 <= float(str(card.get("energy.joules", 0))) < 20_000


def test_a_real_process_on_a_card_is_seen(
    snapshots: Snapshots, holder: subprocess.Popen[str]
) -> None:
    """
    With its pid and what it holds; in a container, whose pids the driver does not know, by memory.
    """
    found = of(two_looks(snapshots), "process_gpu")
    assert any(int(str(one.get("gpu.memory.bytes", 0))) >= HELD for one in found)
    if any(one["process.pid"] == holder.pid for one in found):
        (mine,) = [one for one in found if one["process.pid"] == holder.pid]
        assert str(mine["process.entity_id"]).startswith(f"{holder.pid}-")
        assert "user.name" in mine
