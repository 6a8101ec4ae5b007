"""
Files through the chain into a store: what `leadline enrich FILE…` does.

One thread reads and enriches while another one writes the batch before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

from enrich.counters import Tally
from enrich.delivery import Delivery, Enriched
from enrich.sources import SourceError, read_lines

Progress = Callable[[Tally], None]


@dataclass(slots=True)
class Ingested:
    tally: Tally = field(default_factory=Tally)
    failed: list[SourceError] = field(default_factory=list)  # sources that were not read whole


def ingest(
    delivery: Delivery, sources: Iterable[str], bulk_max_size: int, progress: Progress
) -> Ingested:
    """
    What became of all documents of SOURCES. A source that fails does not stop the others.
    """
    total = Ingested()
    under_way: Future[Tally] | None = None
    with ThreadPoolExecutor(1) as writer:
        for done, source in _all_batches(delivery, sources, bulk_max_size, total):
            if under_way is not None:
                total.tally += under_way.result()
                progress(total.tally)
            under_way = writer.submit(delivery.write, done, source)
        if under_way is not None:
            total.tally += under_way.result()
    return total


def _all_batches(
    delivery: Delivery, sources: Iterable[str], size: int, total: Ingested
) -> Iterator[tuple[Enriched, str]]:
    for source in sources:
        try:
            for done in _batches(delivery, source, size):
                yield done, source
        except SourceError as error:
            total.failed.append(error)


def _batches(delivery: Delivery, source: str, size: int) -> Iterator[Enriched]:
    """
    Full batches, and what is left: also when the source breaks off.
    """
    batch = Enriched()
    judged = False
    broken: SourceError | None = None
    try:
        for lines in read_lines(source):
            for some in _in_parts(lines, size):
                done = delivery.enrich(some, source)
                judged = judged or _judge(source, done)
                batch.add(done)
                if len(batch) >= size:
                    yield batch
                    batch = Enriched()
    except SourceError as error:
        broken = error
    if batch:
        yield batch
    if broken is not None:
        raise broken


def _in_parts(lines: list[bytes], size: int) -> Iterator[list[bytes]]:
    rest = iter(lines)
    while part := list(islice(rest, size)):
        yield part


def _judge(source: str, done: Enriched) -> bool:
    if done.dead and len(done) == len(done.dead):
        raise SourceError(
            f"{source}: no documents of leadline in it ({done.dead[0].reason});"
            " other formats are read by `leadline backfill`"
        )
    return True
