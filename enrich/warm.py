"""
What a worker must know again after a start: the jobs of the last days, from the store.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from enrich.chain import Chain
from enrich.steps.job_context import NEEDED, TELLING, JobContext
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING

DAYS = 8  # longer than most jobs may run


def warm(chain: Chain, store: Store, now: datetime | None = None) -> int:
    """
    Tell the chain about recent jobs; how many documents it was told. Raises StoreError.
    """
    contexts = [step for step in chain.steps if isinstance(step, JobContext)]
    if not contexts:
        return 0
    start = (now or datetime.now(UTC)) - timedelta(days=DAYS)
    count = 0
    for dataset in sorted(TELLING):
        for batch in store.scan(dataset, EVERYTHING, start=start, fields=NEEDED):
            count += len(batch)
            for context in contexts:
                context.learn_all(batch)
    return count
