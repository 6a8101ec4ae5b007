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
from enrich.deadletters import DeadLetter
from enrich.delivery import Delivery
from enrich.sources import SourceError, read_lines
from leadline.formats import Document

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
        for documents, dead, source in _all_batches(delivery, sources, bulk_max_size, total):
            if under_way is not None:
                total.tally += under_way.result()
                progress(total.tally)
            under_way = writer.submit(delivery.write, documents, dead, source)
        if under_way is not None:
            total.tally += under_way.result()
    return total


def _all_batches(
    delivery: Delivery, sources: Iterable[str], size: int, total: Ingested
) -> Iterator[tuple[list[Document], list[DeadLetter], str]]:
    for source in sources:
        try:
            for documents, dead in _batches(delivery, source, size):
                yield documents, dead, source
        except SourceError as error:
            total.failed.append(error)


def _batches(
    delivery: Delivery, source: str, size: int
) -> Iterator[tuple[list[Document], list[DeadLetter]]]:
    """
    Full batches, and what is left: also when the source breaks off.
    """
    documents: list[Document] = []
    dead: list[DeadLetter] = []
    judged = False
    broken: SourceError | None = None
    try:
        for lines in read_lines(source):
            for some in _in_parts(lines, size):
                more, refused = delivery.enrich(some, source)
                judged = judged or _judge(source, more, refused)
                documents += more
                dead += refused
                if len(documents) + len(dead) >= size:
                    yield documents, dead
                    documents, dead = [], []
    except SourceError as error:
        broken = error
    if documents or dead:
        yield documents, dead
    if broken is not None:
        raise broken


def _in_parts(lines: list[bytes], size: int) -> Iterator[list[bytes]]:
    rest = iter(lines)
    while part := list(islice(rest, size)):
        yield part


def _judge(source: str, documents: list[Document], dead: list[DeadLetter]) -> bool:
    if not documents and dead:
        raise SourceError(
            f"{source}: no documents of leadline in it ({dead[0].reason});"
            " other formats are read by `leadline backfill`"
        )
    return True
