"""
Where the CPU time of a sample goes before it is sent, part by part on one core: the short way, the
long way, their mixture, and the receiver's part. Beside it, as the limit, reading a line as JSON.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import orjson

from bench.index import delivery
from bench.report import Report, arguments
from bench.samples import HOSTS, PROCESSES, lines
from enrich.chain import Chain
from enrich.grants import ANYTHING
from enrich.receiver import Receiver
from enrich.rules import read_rules
from enrich.seen import Seen
from enrich.settings import WorkerSettings
from enrich.step import Context
from leadline.formats.ids import document_id
from leadline.formats.validate import read_line

MINUTE = HOSTS * PROCESSES
BEFORE = 10  # minutes a worker has been running


class Memory:
    """
    A queue that forgets: what the spool costs is bench/spool.py's.
    """

    def append(self, lines: list[bytes]) -> None:
        pass

    def waiting_bytes(self) -> int:
        return 0


def microseconds(work: Callable[[Sequence[bytes]], object], given: Sequence[bytes]) -> float:
    begun = time.process_time()
    work(given)
    return (time.process_time() - begun) / len(given) * 1e6


def long_way(chain: Chain) -> Callable[[Sequence[bytes]], None]:
    def work(given: Sequence[bytes]) -> None:
        for line in given:
            document = chain.one(read_line(line))
            document_id(document)
            orjson.dumps(document)

    return work


def short_way(chain: Chain) -> Callable[[Sequence[bytes]], None]:
    """
    Fails where a line is not cut: then it would be something else that is measured.
    """

    def work(given: Sequence[bytes]) -> None:
        splice = chain.splicer.batch()
        assert all(map(splice, given))

    return work


def shuffled(line: bytes) -> bytes:
    """
    The same sample with its fields in another order, as others' shippers may write it.
    """
    document = orjson.loads(line)
    return orjson.dumps(dict(sorted(document.items())))


def receiving(before: Sequence[bytes]) -> Callable[[Sequence[bytes]], None]:
    """
    Requests of a node's twenty samples, packed as shippers pack them.
    """
    receiver = Receiver(Memory(), Context(rules=read_rules()), WorkerSettings(), Seen(), clock)

    def work(given: Sequence[bytes]) -> None:
        for start in range(0, len(given), PROCESSES):
            body = gzip.compress(b"\n".join(given[start : start + PROCESSES]), 1)
            receiver.take(body, "gzip", ANYTHING)

    work(before)
    return work


def packing(given: Sequence[bytes]) -> None:
    for start in range(0, len(given), PROCESSES):
        gzip.compress(b"\n".join(given[start : start + PROCESSES]), 1)


def clock() -> float:
    return 1.9e9  # after all samples, which may not be ahead


def measure(before: list[bytes], after: list[bytes]) -> dict[str, float]:
    """
    One round of each part, in a worker that has seen what came BEFORE.
    """
    worker = delivery(None)
    worker.enrich(before, "bench")
    again = [line for line in after[:MINUTE] if worker.chain.splicer.batch()(line)]
    fresh = [line for line in after if b'"process.name":"gmx_mpi"' in line]
    take = receiving(before)
    received, packed = microseconds(take, after), microseconds(packing, after)
    other = delivery(None)
    other.enrich(before, "bench")
    return {
        "json_us": microseconds(lambda given: [orjson.loads(line) for line in given], after),
        "seen_us": microseconds(short_way(worker.chain), again),
        "new_us": microseconds(long_way(delivery(None).chain), fresh),
        "other_order_us": microseconds(long_way(worker.chain), list(map(shuffled, after))),
        "mixture_us": microseconds(lambda given: other.enrich(given, "bench"), after),
        "received_us": received - packed,
    }


def main() -> None:
    args = arguments(__doc__ or "")
    minutes, rounds = (10, 3) if args.quick else (50, 7)
    every = list(lines((BEFORE + minutes) * MINUTE))
    found = [measure(every[: BEFORE * MINUTE], every[BEFORE * MINUTE :]) for _ in range(rounds)]
    report = Report("lines: CPU time of a sample on one core, least of all rounds")
    for name in found[0]:
        report.add(name, min(each[name] for each in found), "µs")
    report.finish(args)


if __name__ == "__main__":
    main()
