"""Disks, networks, sensors, modules, files: each from a machine that is told what to show."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from shipper.settings import FilesSettings
from shipper.snapshot import Snapshots
from tests.shipper.conftest import of
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]


def test_network_tells_deltas(system: FakeSystem, start: Start) -> None:
    """
    Bytes since the last tick, kind, state and speed; loopback stays out; a reset is no delta.
    """
    dev = "Inter-| Receive\n face |bytes\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
    line = "  eth0: {} 10 1 2 0 0 0 0 {} 20 3 4 0 0 0 0\n"
    system.put("/proc/net/dev", dev + line.format(1000, 2000))
    system.put("/sys/class/net/eth0/type", "1\n")
    system.put("/sys/class/net/eth0/operstate", "up\n")
    system.put("/sys/class/net/eth0/speed", "25000\n")
    snapshots = start(collectors=("network",))
    (first,) = of(snapshots.take(), "network")
    assert "network.in.bytes" not in first
    system.put("/proc/net/dev", dev + line.format(1500, 100))
    (told,) = of(snapshots.take(), "network")
    assert (told["interface.kind"], told["interface.state"]) == ("ethernet", "up")
    assert told["interface.speed"] == 25e9
    assert (told["network.in.bytes"], told["network.in.errors"]) == (500, 0)
    assert "network.out.bytes" not in told


def test_disks_are_whole_disks(system: FakeSystem, start: Start) -> None:
    """
    Partitions and loop devices would count the same bytes twice.
    """
    for name in ("sda", "loop0"):
        system.put(f"/sys/block/{name}/size", "1")
    text = " 8 0 sda {} 0 {} 5 20 0 80 9 1 {} 12 0 0 0\n 8 1 sda1 9 0 9 9 9 0 9 9 0 9 9\n 7 0 loop0 1 0 1 1 1 1 1 1 1 1 1\n"  # noqa: E501
    system.put("/proc/diskstats", text.format(10, 100, 3000))
    snapshots = start(collectors=("disk",))
    snapshots.take()
    system.put("/proc/diskstats", text.format(14, 108, 3500))
    (told,) = of(snapshots.take(), "disk")
    assert (told["disk.name"], told["disk.queue"]) == ("sda", 1)
    assert (told["io.read.operations"], told["io.read.bytes"]) == (4, 8 * 512)
    assert (told["io.write.bytes"], told["disk.busy.seconds"]) == (0, 0.5)


def test_infiniband_counts_words(system: FakeSystem, start: Start) -> None:
    """
    The port's data counters count four bytes each.
    """
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    for file, text in (
        ("link_layer", "InfiniBand"), ("state", "4: ACTIVE"), ("rate", "100 Gb/sec (4X EDR)"),
        ("counters/port_rcv_data", "1000"), ("counters/port_xmit_data", "0"),
    ):  # fmt: skip
        system.put(f"{port}/{file}", text + "\n")
    snapshots = start(collectors=("interconnect",))
    snapshots.take()
    system.put(f"{port}/counters/port_rcv_data", "1250\n")
    (told,) = of(snapshots.take(), "network")
    assert (told["interface.name"], told["interface.kind"]) == ("mlx5_0/1", "infiniband")
    assert (told["interface.state"], told["interface.speed"]) == ("active", 100e9)
    assert (told["network.in.bytes"], told["network.out.bytes"]) == (1000, 0)
    assert "network.in.packets" not in told


def test_sensors_tell_what_is_believable(system: FakeSystem, start: Start) -> None:
    """
    A driver's -128 °C is a sensor that is not there; two like chips keep two names.
    """
    for number, chip in enumerate(("coretemp", "coretemp", "ghost")):
        folder = f"/sys/class/hwmon/hwmon{number}"
        system.put(f"{folder}/name", chip)
        system.put(f"{folder}/temp1_input", "-128000" if chip == "ghost" else f"{61 + number}500")
    system.put("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0")
    system.put("/sys/class/hwmon/hwmon0/temp1_crit", "100000")
    system.put("/sys/class/hwmon/hwmon1/temp1_label", "Package id 0")
    system.put("/sys/class/hwmon/hwmon0/power1_average", "95500000")
    told = of(start(collectors=("sensor",)).take(), "sensor")
    assert [(d["sensor.name"], d.get("temperature.celsius")) for d in told] == [
        ("coretemp/power1", None),
        ("coretemp/Package id 0", 61.5),
        ("coretemp/Package id 0 #2", 62.5),
    ]
    assert told[0]["power.watts"] == 95.5
    assert told[1]["temperature.critical.celsius"] == 100.0


def test_energy_counters_wrap(system: FakeSystem, start: Start) -> None:
    """
    RAPL's counter starts anew at a value it tells: the energy between is not lost.
    """
    zone = "/sys/class/powercap/intel-rapl:0"
    system.put(f"{zone}/name", "package-0")
    system.put(f"{zone}/max_energy_range_uj", "10000000")
    system.put(f"{zone}/energy_uj", "9000000")
    snapshots = start(collectors=("sensor",))
    snapshots.take()
    system.put(f"{zone}/energy_uj", "500000")
    (told,) = of(snapshots.take(), "sensor")
    assert told["energy.joules"] == 1.5


def test_thermal_zones_stand_in(system: FakeSystem, start: Start) -> None:
    """
    Where no hwmon shows a temperature the thermal zones are asked.
    """
    system.put("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp")
    system.put("/sys/class/thermal/thermal_zone0/temp", "45000")
    (told,) = of(start(collectors=("sensor",)).take(), "sensor")
    assert (told["sensor.name"], told["temperature.celsius"]) == ("thermal_zone0/x86_pkg_temp", 45)


def test_changed_modules_are_an_event(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    The fingerprint is on every node document; names come when the set changes, also over a restart.
    """
    system.put("/proc/modules", "xfs 1 0 - Live\nnvidia 9 3 - Live\n")
    state = tmp_path / "state"
    first = start(collectors=("modules",), state=state).take()
    assert of(first, "event") == []
    system.put("/proc/modules", "nvidia 9 4 - Live\nlustre 1 0 - Live\n")
    documents = start(collectors=("modules",), state=state).take()
    (event,) = of(documents, "event")
    assert event["event.names"] == ["+lustre", "-xfs"]
    assert event["@timestamp"] == event["sample.time"]
    assert (
        of(first, "node")[0]["kernel.modules.hash"]
        != of(documents, "node")[0]["kernel.modules.hash"]
    )


def test_the_fingerprint_knows_no_order(system: FakeSystem, start: Start) -> None:
    """
    Use counts and order change all the time and mean nothing.
    """
    system.put("/proc/modules", "")
    snapshots = start(collectors=("modules",))
    hashes = set()
    for text in ("a 1 0\nb 1 0\n", "b 7 9\na 1 2\n"):
        system.put("/proc/modules", text)
        snapshots.take()
        documents = snapshots.take()
        hashes.add(of(documents, "node")[0]["kernel.modules.hash"])
        assert of(documents, "event") == []
    assert len(hashes) == 1


def test_watched_files_tell_changes(system: FakeSystem, start: Start) -> None:
    """
    One event per file: made, modified, given other rights, replaced, removed.
    """
    system.put("/etc/passwd", "root")
    system.put("/etc/cron.d/job", "x")
    settings = FilesSettings(paths=(Path("/etc/passwd"), Path("/etc/cron.d")))
    snapshots = start(collectors=("files",), files=settings)
    assert of(snapshots.take(), "event") == []
    system.put("/etc/passwd", "root alice")
    system.put("/etc/cron.d/new", "y")
    Path(system.root, "etc/cron.d/job").unlink()
    events = of(snapshots.take(), "event")
    assert {(e["file.path"], e["event.reason"]) for e in events} == {
        ("/etc/passwd", "modified"),
        ("/etc/cron.d/new", "created"),
        ("/etc/cron.d/job", "removed"),
    }
    assert len({e["event.object"] for e in events}) == 3
    os.chmod(f"{system.root}/etc/passwd", 0o666)  # noqa: PTH101
    assert [e["event.reason"] for e in of(snapshots.take(), "event")] == ["given other rights"]
    assert of(snapshots.take(), "event") == []


@pytest.mark.parametrize("name", ["network", "disk", "interconnect", "sensor", "modules", "files"])
def test_a_machine_without_it_is_silent(system: FakeSystem, start: Start, name: str) -> None:
    """
    What a machine cannot have is listed with its reason, and neither sent nor an event.
    """
    snapshots = start(collectors=(name,))
    assert snapshots.unavailable[name]
    assert {d["dataset"] for d in snapshots.take()} == {"node"}
