"""
The samples that bench/index.py loads: lines as shippers send them, field by field in their order.

100 nodes, 20 documents each, every minute. On each node one process of the 20 is seen only once,
mostly with a command seen before; the others live one to six hours, and nothing of them changes
but what was measured. Every fifth is asleep. A million samples hold some 17,000 distinct commands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import orjson

from leadline.formats import Document

HOSTS, PROCESSES = 100, 20
COMMANDS = 16_920  # distinct ones
NAMES = ("gmx_mpi", "vasp_std", "python3.11", "R", "orca")


def lines(count: int) -> Iterator[bytes]:
    rng = random.Random(4)
    for number in range(count):
        yield orjson.dumps(sample(number, rng))


def sample(number: int, rng: random.Random) -> Document:
    minute, rest = divmod(number, HOSTS * PROCESSES)
    host, slot = divmod(rest, PROCESSES)
    busy = 0 if slot % 5 == 4 else rng.randrange(1, 6000)
    system = rng.randrange(busy + 1) // 8
    return {
        **process(minute, host, slot),
        "process.state": "R" if busy else "S",
        "process.thread.count": 1 + slot % 8,
        "core_seconds": busy / 100,
        "core_seconds_user": (busy - system) / 100,
        "core_seconds_system": system / 100,
        "cpu.percent": round(busy / 60, 1),
        "memory.rss.bytes": (slot * 90_000_000 + rng.randrange(1 << 24)) // 4096 * 4096,
        "memory.virtual.bytes": (slot * 400_000_000 + (1 << 24)) // 4096 * 4096,
        "io.read.bytes": 0 if slot % 4 else rng.randrange(40) * 4096,
        "io.write.bytes": 0,
        **moment(minute, host),
    }


def process(minute: int, host: int, slot: int) -> Document:
    """
    What a process is, as long as it lives.
    """
    life = 1 if slot == 0 else 60 + (host * 7 + slot * 37) % 300
    born = minute // life * life
    pid = 1000 + (host * 31 + slot * 97 + born * 13) % 31_000
    user = (host * 7 + slot // 4) % 211
    often = slot == 0 and (host + minute) % 3  # two of three short ones are what all people run
    case = host % 50 if often else (host * PROCESSES + slot + born * 7) % COMMANDS
    line = command(slot, case)
    return {
        "dataset": "process",
        "process.pid": pid,
        "process.entity_id": f"{pid}-{6_000_000 + born * 6000 + slot * 7}",
        "process.parent.pid": 900 + host,
        "process.start": f"2026-11-20T{born // 60 % 24:02d}:{born % 60:02d}:{slot:02d}.120Z",
        "process.name": NAMES[slot % 5],
        "user.name": f"u{user:03d}",
        "user.id": str(5000 + user),
        "process.command_line": line,
        "process.executable": line.split()[0],
        "job.local_id": str(400_000 + host * 4 + slot // 5 + born),
    }


def moment(minute: int, host: int) -> Document:
    """
    What all documents of a snapshot share.
    """
    clock = f"2026-11-21T{minute // 60 % 24:02d}:{minute % 60:02d}"
    return {
        "@timestamp": f"{clock}:29.{host * 7 % 1000:03d}Z",
        "host.name": f"c1-{host}",
        "boot.id": f"7b0c2f0e-{host:04d}-4c5e-9f6d-2b7d3a1c9e80",
        "sample.uptime": 100_000 + minute * 60 + host,
        "sample.time": f"{clock}:59.{host * 7 % 1000:03d}Z",
        "agent.version": "0.1.0",
        "schema.version": 1,
        "cluster": "fox",
        "interval.seconds": 60.0 + host % 3 / 1000,
    }


def command(slot: int, case: int) -> str:
    return (
        f"/cluster/software/GROMACS/2024.1/bin/gmx_mpi mdrun -s topol_{case}.tpr -ntomp 8 -v",
        f"/cluster/software/VASP/6.4.2/bin/vasp_std run_{case}",
        f"/usr/bin/python3.11 train_v2.py --epochs=100 --lr 1e-4 data/membrane_{case}.h5",
        f"/usr/bin/R --no-save -f analysis_{case}.R",
        f"/cluster/software/ORCA/5.0.4/orca input_{case}.inp",
    )[slot % 5]
