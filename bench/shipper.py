"""
What a snapshot costs a node: CPU and memory beside `ps` and a psutil loop in the same run, and
bytes on the wire.

The processes are real: shells with a command line of their own, which work for a tick before each
look, or sleep.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import orjson

from bench.daemon import resident, sleepers
from bench.node import realistic_node
from bench.recorded import recorded_node
from bench.report import Report, arguments
from leadline.formats import Document
from shipper.senders.http import gzip
from shipper.senders.settings import ShipSettings

PS = ["ps", "-eo", "pid,user,rss,pcpu,comm,args"]
# About 12 ms of work for each line that comes in.
WORKER = "while read line; do i=0; while [ $i -lt 14000 ]; do i=$((i+1)); done; echo; done; :"
LOOKER = Path(__file__).with_name("lookers.py")
OUTPUT_READ = 1


class Crowd:
    """
    Real processes that sleep until they are told to work.
    """

    def __init__(self, count: int) -> None:
        self.members = [
            subprocess.Popen(
                ["sh", "-c", WORKER, f"worker-{number}", f"--part={number * 7919}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for number in range(count)
        ]

    def work(self, share: float = 1.0) -> None:
        """
        SHARE of them use more than a tick of CPU each; back when all are done.
        """
        busy = self.members[: int(len(self.members) * share)]
        for member in busy:
            assert member.stdin is not None
            member.stdin.write(b"go\n")
            member.stdin.flush()
        for member in busy:
            assert member.stdout is not None
            member.stdout.read(OUTPUT_READ)

    def end(self) -> None:
        for member in self.members:
            member.kill()
        for member in self.members:
            member.communicate()


@contextmanager
def crowd(count: int) -> Iterator[Crowd]:
    made = Crowd(count)
    try:
        time.sleep(0.5)
        yield made
    finally:
        made.end()


class Looker:
    """
    A way to look at all processes, in a process of its own that says what each look cost.
    """

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(LOOKER), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def look(self) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"look\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        assert isinstance(told, dict)
        return told

    def end(self) -> None:
        self._process.communicate()


def ps_cpu() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(PS, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def once_cpu() -> float:
    """
    The one-shot mode: start Python, import, look once, end.
    """
    command = [sys.executable, "-m", "leadline.commands", "sample", "--over", "0"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(report: Report, count: int, rounds: int) -> None:
    """
    All ways to look at COUNT processes, one after the other in each round.
    """
    with crowd(count) as people:
        shipper, loop = Looker("shipper"), Looker("psutil")
        try:
            for _ in range(3):
                shipper.look()  # the first looks learn who is there
            loop.look()
            busy, idle, ps, psutil_loop = [], [], [], []
            for _ in range(rounds):
                people.work()
                busy.append(shipper.look()["cpu"])
                ps.append(ps_cpu())
                psutil_loop.append(loop.look()["cpu"])
            for _ in range(max(5, rounds)):
                people.work(0.05)
                told = shipper.look()
                idle.append(told["cpu"])
                ps.append(ps_cpu())
                psutil_loop.append(loop.look()["cpu"])
            once = median(once_cpu() for _ in range(2))
        finally:
            shipper.end()
            loop.end()
    tell(report, count, (median(busy), median(idle), median(ps), median(psutil_loop), once), told)


def tell(
    report: Report,
    count: int,
    costs: tuple[float, float, float, float, float],
    told: dict[str, float],
) -> None:
    busy, idle, ps, loop, once = costs
    promised = count == 1000
    report.add(f"ps_{count}", 1000 * ps, "ms CPU")
    report.add(f"psutil_{count}", 1000 * loop, "ms CPU")
    report.add(f"shipper_{count}", 1000 * busy, "ms CPU")
    report.add(f"shipper_{count}_idle", 1000 * idle, "ms CPU")
    report.add(f"one_shot_{count}", 1000 * once, "ms CPU")
    report.add(f"encode_gzip_{count}", 1000 * told["encode"], "ms CPU")
    report.add(f"cpu_vs_ps_{count}", busy / ps, "", "<= 0.40" if promised else None)
    report.add(f"cpu_vs_ps_{count}_idle", idle / ps, "", "<= 0.25" if promised else None)
    report.add(f"cpu_vs_psutil_{count}", busy / loop, "", "<= 0.22" if promised else None)
    report.add(f"look_mb_{count}", told["rss"] / 1e6, "MB")


def daemon_memory(report: Report, count: int) -> None:
    """
    What the whole `leadline ship` holds at its most; its looks alone are `look_mb`.
    """
    with sleepers(count):
        plain, tls = resident()["VmHWM"], resident(tls=True)["VmHWM"]
    target = "<= 40" if count == 4000 else None
    report.add(f"rss_mb_{count}", plain / 1e6, "MB", target)
    report.add(f"rss_mb_{count}_tls", tls / 1e6, "MB", target)


def wire(report: Report) -> None:
    """
    Bytes per process in gzip batches as the sender makes them: of a recorded node (bench/record.py)
    as it is sent and with each process alone, of a made-up larger one, and where nothing repeats.
    """
    recorded, processes = recorded_node()
    report.add("wire_bytes_per_sample", packed(recorded) / processes, "bytes", "<= 40")
    report.add("wire_rolled_up", processes / len(recorded), "processes/document")
    alone, processes = recorded_node(roll_up=False)
    report.add("wire_bytes_per_sample_alone", packed(alone) / processes, "bytes")
    made_up, processes = realistic_node()
    report.add("wire_bytes_per_sample_made_up", packed(made_up) / processes, "bytes")
    rng = random.Random(1)
    for document in alone:
        document["process.command_line"] = f"{rng.randbytes(40).hex()}"
        document["process.entity_id"] = rng.randbytes(12).hex()
    report.add("wire_bytes_per_sample_worst", packed(alone) / len(alone), "bytes")


def packed(documents: list[Document]) -> int:
    settings = ShipSettings()
    lines, size, total = [], 0, 0
    for document in documents:
        lines.append(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
        size += len(lines[-1])
        if size > settings.bulk_max_bytes:
            total += len(gzip(b"".join(lines), settings.compression_level))
            lines, size = [], 0
    return total + len(gzip(b"".join(lines), settings.compression_level))


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("shipper: cost of a snapshot")
    sizes = (1000, 4000) if args.quick else (100, 1000, 4000)
    for count in sizes:
        rounds = 1 if count == 4000 else 3 if args.quick else 6
        compare(report, count, rounds)
        daemon_memory(report, count)
    wire(report)
    report.finish(args)


if __name__ == "__main__":
    main()
