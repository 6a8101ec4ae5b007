"""What a process document says, and what it leaves unsaid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.formats.times import from_epoch
from shipper.settings import ProcessSettings, RedactSettings
from shipper.snapshot import Snapshots
from tests.shipper.conftest import of, processes
from tests.shipper.fake import BOOT_ID, BOOTED, FakeSystem

Start = Callable[..., Snapshots]


def test_a_process_says_all_it_is(system: FakeSystem, start: Start) -> None:
    """
    Every field of a plain process, after two looks.
    """
    system.process(300, name=b"vasp std", command=b"/opt/vasp std\0-n\0two words\0", io=(10, 20))
    snapshots = start()
    snapshots.take()
    system.process(
        300, name=b"vasp std", command=b"/opt/vasp std\0-n\0two words\0", user=3000, system=500,
        rss=5, threads=4, state="R", io=(4106, 8212),
    )  # fmt: skip
    system.pass_time(60)
    (process,) = processes(snapshots.take())
    assert process == {
        "@timestamp": from_epoch(BOOTED + 1030),
        "dataset": "process",
        "host.name": "n1",
        "boot.id": BOOT_ID,
        "sample.uptime": 1060,
        "sample.time": from_epoch(BOOTED + 1060),
        "interval.seconds": 60.0,
        "agent.version": process["agent.version"],
        "schema.version": 1,
        "process.pid": 300,
        "process.entity_id": "300-50000",
        "process.parent.pid": 1,
        "process.start": from_epoch(BOOTED + 500),
        "process.name": "vasp std",
        "process.command_line": "/opt/vasp std -n two words",
        "process.state": "R",
        "process.thread.count": 4,
        "user.name": "alice",
        "user.id": "1001",
        "job.local_id": f"n1/{BOOT_ID}-300-50000",
        "core_seconds": 35.0,
        "core_seconds_user": 30.0,
        "core_seconds_system": 5.0,
        "cpu.percent": 58.3,
        "memory.rss.bytes": 20480,
        "memory.virtual.bytes": 8192000,
        "io.read.bytes": 4096,
        "io.write.bytes": 8192,
    }


def test_an_old_process_has_no_delta_at_first_sight(system: FakeSystem, start: Start) -> None:
    """
    Its counter grew over days nobody knows; counting it into one minute would be wrong.
    """
    system.process(300, user=999_999)
    (process,) = processes(start().take())
    assert {"core_seconds", "cpu.percent", "io.read.bytes", "interval.seconds"}.isdisjoint(process)


def test_a_process_born_since_the_last_tick_counts_whole(system: FakeSystem, start: Start) -> None:
    """
    All it used was used within the interval.
    """
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    system.process(301, user=1000, start=101_000, io=(512, 0))
    (process,) = processes(snapshots.take())
    assert (process["core_seconds"], process["io.read.bytes"]) == (10.0, 512)


def test_core_seconds_are_deltas_and_add_up(system: FakeSystem, start: Start) -> None:
    """
    A cumulative counter summed over samples is the classic wrong answer: 750 s became 2,250.
    """
    snapshots = start()
    snapshots.take()
    total = 0.0
    for user in (25_000, 50_000, 75_000):
        system.pass_time(300)
        system.process(300, user=user, start=100_000)
        (process,) = processes(snapshots.take())
        total += float(str(process["core_seconds"]))
    assert total == 750.0


def test_a_pid_used_again_is_another_process(system: FakeSystem, start: Start) -> None:
    """
    The new one's counters are not taken against those of the old one.
    """
    system.process(300, user=5000)
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    system.end(300)
    system.process(300, name=b"new", user=6000, start=103_000)
    (process,) = processes(snapshots.take())
    assert (process["process.entity_id"], process["core_seconds"]) == ("300-103000", 60.0)


def test_a_pid_used_again_is_seen_without_a_descriptor(system: FakeSystem, start: Start) -> None:
    """
    The same where no descriptor could be kept open.
    """
    system.spare_descriptors = 0
    system.process(300, user=5000)
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    system.process(300, name=b"new", command=b"new\0", user=6000, start=103_000)
    (process,) = processes(snapshots.take())
    assert (process["process.command_line"], process["core_seconds"]) == ("new", 60.0)


def test_exec_is_noticed(system: FakeSystem, start: Start) -> None:
    """
    The same pid and start, but another program: command line and all are read again.
    """
    system.process(300, name=b"bash", command=b"bash\0")
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    snapshots.take()
    system.process(300, name=b"python", command=b"python\0run.py\0", stack=8)
    system.pass_time(60)
    (process,) = processes(snapshots.take())
    assert process["process.command_line"] == "python run.py"


def test_a_quiet_process_costs_one_read(system: FakeSystem, start: Start) -> None:
    """
    While the kernel's line stays the same nothing else is looked at.
    """
    system.process(300)
    snapshots = start()
    for _ in range(3):
        system.pass_time(60)
        snapshots.take()
    system.reads.clear()
    system.pass_time(60)
    (process,) = processes(snapshots.take())
    assert [path for path in system.reads if path.startswith("/proc/300/")] == []
    assert (process["core_seconds"], process["io.read.bytes"]) == (0.0, 0)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a\0b c\0", "a b c"),
        (b"tab\there\0new\nline\0", "tab\there new\nline"),
        (b"bad \xff\xfe utf8\0", "bad \\xff\\xfe utf8"),
        ("grüße\0".encode(), "grüße"),
        (b"no nul at the end", "no nul at the end"),
        (b"", None),
    ],
)
def test_command_lines_hold_any_bytes(
    system: FakeSystem, start: Start, raw: bytes, text: str | None
) -> None:
    """
    Blanks, tabs, newlines and broken UTF-8 all arrive; an empty one is absent.
    """
    system.process(300, command=raw)
    (process,) = processes(start().take())
    assert process.get("process.command_line") == text


def test_names_hold_any_bytes(system: FakeSystem, start: Start) -> None:
    """
    A name with parentheses, blanks and broken UTF-8 shifts no column.
    """
    system.process(300, name=b") R 1 (\xff ", rss=7)
    (process,) = processes(start().take())
    assert (process["process.name"], process["memory.rss.bytes"]) == (") R 1 (\\xff ", 7 * 4096)


def test_a_command_line_of_two_mebibytes_is_cut(system: FakeSystem, start: Start) -> None:
    """
    8,191 characters are kept, with a hash that tells two long ones apart.
    """
    long = b"x" * (2 << 20)
    system.process(300, command=long + b"1\0")
    system.process(301, command=long + b"2\0")
    one, two = processes(start().take())
    assert len(str(one["process.command_line"])) == 8191
    assert one["process.command_line_truncated"] is True
    assert one["process.command_line_hash"] != two["process.command_line_hash"]


def test_what_is_denied_is_absent(system: FakeSystem, start: Start) -> None:
    """
    A node that may not read I/O says nothing about it: not 0.
    """
    system.process(300)
    system.denied |= {"/proc/300/io", "/proc/300/cmdline"}
    snapshots = start()
    snapshots.take()
    system.process(300, user=100)
    system.pass_time(60)
    (process,) = processes(snapshots.take())
    assert {"io.read.bytes", "io.write.bytes", "process.command_line"}.isdisjoint(process)
    assert process["core_seconds"] == 1.0


def test_kernel_threads_stay_out(system: FakeSystem, start: Start) -> None:
    """
    They are the machine's own, and no loss; a setting brings them back.
    """
    system.process(2, name=b"kthreadd", command=b"", uid=0, flags=0x00200040)
    snapshots = start()
    assert processes(snapshots.take()) == []
    assert snapshots.tally.left_out == 0
    (thread,) = processes(start(process=ProcessSettings(kernel_threads=True)).take())
    assert thread["process.name"] == "kthreadd"


def test_secrets_do_not_leave_the_node(system: FakeSystem, start: Start) -> None:
    """
    Redaction is on unless it is switched off.
    """
    system.process(300, command=b"mysql\0--password=hunter2\0db\0")
    (process,) = processes(start().take())
    assert process["process.command_line"] == "mysql --password=*** db"


def test_a_sites_own_secret_is_hidden(system: FakeSystem, start: Start) -> None:
    """
    The group `secret` of a site's pattern is hidden, the rest stays.
    """
    system.process(300, command=b"solver\0--licence\0abc-123\0in.dat\0")
    redact = RedactSettings(patterns=(r"--licence (?P<secret>\S+)",))
    (process,) = processes(start(redact=redact).take())
    assert process["process.command_line"] == "solver --licence *** in.dat"


def test_arguments_can_be_kept_at_home(system: FakeSystem, start: Start) -> None:
    """
    With `arguments: no` only the command itself is sent.
    """
    system.process(300, command=b"/bin/prog\0--patient\0Jane Doe\0")
    (process,) = processes(start(redact=RedactSettings(arguments=False)).take())
    assert process["process.command_line"] == "/bin/prog"


def test_pseudonyms_are_stable_and_keyed(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    The same name on every node with the same key; neither name nor uid is sent.
    """
    system.process(300)
    names = []
    for key in ("k" * 32, "k" * 32, "other key " * 3):
        file = tmp_path / "key"
        file.write_text(key)
        (process,) = processes(start(redact=RedactSettings(pseudonym_key=file)).take())
        names.append((process["user.name"], process["user.id"]))
    assert names[0] == names[1] != names[2]
    assert not {"alice", "1001"} & {str(part) for pair in names for part in pair}


def test_counters_survive_a_restart(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    A shipper that was restarted, or runs from cron, goes on where it stopped.
    """
    system.process(300, user=1000, io=(5, 5))
    first = start(state=tmp_path / "state")
    first.take()
    first.close()
    system.pass_time(60)
    system.process(300, user=1600, io=(105, 5))
    documents = start(state=tmp_path / "state").take()
    (process,) = processes(documents)
    assert (process["core_seconds"], process["io.read.bytes"]) == (6.0, 100)
    assert process["interval.seconds"] == 60.0


def test_counters_do_not_survive_a_boot(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    With a new boot id all counters begin anew.
    """
    system.process(300, user=1000)
    start(state=tmp_path / "state").take()
    system.put("/proc/sys/kernel/random/boot_id", "another-boot\n")
    (process,) = processes(start(state=tmp_path / "state").take())
    assert "core_seconds" not in process


@pytest.mark.parametrize("broken", [b"", b"{", b"[1]", b'{"boot.id": 7}', b"\xff\xfe"])
def test_a_broken_state_is_no_state(
    system: FakeSystem, start: Start, tmp_path: Path, broken: bytes
) -> None:
    """
    A state file torn by a full disk costs one interval, not the shipper.
    """
    (tmp_path / "counters.json").write_bytes(broken)
    system.process(300)
    (process,) = processes(start(state=tmp_path).take())
    assert "core_seconds" not in process


@pytest.mark.parametrize("step", [-7200.0, 7200.0])
def test_a_clock_that_is_set_changes_no_delta(
    system: FakeSystem, start: Start, step: float
) -> None:
    """
    Intervals are taken by the clock since boot; only the time written moves.
    """
    system.process(300)
    snapshots = start()
    snapshots.take()
    system.wall_offset = step
    system.pass_time(60)
    system.process(300, user=3000)
    (process,) = processes(snapshots.take())
    assert (process["interval.seconds"], process["cpu.percent"]) == (60.0, 50.0)
    assert process["process.start"] == from_epoch(BOOTED + 500)
    assert process["sample.time"] == from_epoch(BOOTED + 1060 + step)


def test_a_process_gone_while_it_is_read_is_left_out(system: FakeSystem, start: Start) -> None:
    """
    Its folder was listed, its files are gone: no document, no failure.
    """
    system.process(300)
    Path(system.root, "proc/301").mkdir()
    system.put("/proc/302/stat", b"302 (half")
    documents = start().take()
    assert [p["process.pid"] for p in processes(documents)] == [300]
    assert of(documents, "event") == []


def test_the_kernels_rounding_loses_no_time(system: FakeSystem, start: Start) -> None:
    """
    User and system time are scaled to an exact sum: one may fall by a tick.
    """
    system.process(300, user=1000, system=500)
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    system.process(300, user=999, system=511)
    (process,) = processes(snapshots.take())
    assert process["core_seconds"] == 0.1
