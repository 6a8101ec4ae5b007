"""
What a worker must know again after a start: the jobs of the days it is about to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from enrich.chain import Chain
from enrich.sources import STDIN, SourceError, read_lines
from enrich.steps.job_context import NEEDED, TELLING, JobContext
from leadline.errors import FormatError
from leadline.formats.times import parse_time
from leadline.formats.validate import read_line
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING

BEFORE = timedelta(days=8)  # longer than most jobs may run
FILE_SPAN = timedelta(days=32)  # what one file is thought to hold


def warm(chain: Chain, store: Store, start: datetime, end: datetime | None = None) -> int:
    """
    Tell the chain about jobs that may have run from START on; how many documents it was told.

    Raises StoreError.
    """
    contexts = [step for step in chain.steps if isinstance(step, JobContext)]
    if not contexts:
        return 0
    count = 0
    for dataset in sorted(TELLING):
        found = store.scan(dataset, EVERYTHING, start=start - BEFORE, end=end, fields=NEEDED)
        for batch in found:
            count += len(batch)
            for context in contexts:
                context.learn_all(batch)
    return count


def warm_now(chain: Chain, store: Store) -> int:
    return warm(chain, store, datetime.now(UTC))


def warm_for(chain: Chain, store: Store, sources: Sequence[str]) -> int:
    """
    The same for files, whose first lines tell when they are from. Standard input cannot be asked.
    """
    times = [time for name in {sources[0], sources[-1]} if (time := first_time(name))]
    if not times:
        return 0
    return warm(chain, store, min(times), max(times) + FILE_SPAN)


def first_time(source: str) -> datetime | None:
    if source == STDIN:
        return None
    try:
        line = next((lines[0] for lines in read_lines(source) if lines), None)
        return parse_time(str(read_line(line)["@timestamp"])) if line else None
    except (SourceError, FormatError):
        return None  # the reader itself will say so
