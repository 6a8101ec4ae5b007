"""
What is no longer kept goes, once a day: summaries by age, raw months when they are sealed as well.
"""

from __future__ import annotations

from datetime import datetime

from leadline.chores.seal import sealed
from leadline.errors import StoreError
from leadline.settings.common import RetentionSettings
from leadline.store.contract import Expired, Store
from leadline.store.retention import RAW, kept_from


def retain(store: Store, retention: RetentionSettings, now: datetime) -> list[Expired]:
    """
    Delete what may go. An engine with policies of its own deletes raw months by those.
    """
    ends = sealed(store)
    keep = kept_from(retention, now, ends)
    hand_over = getattr(store, "hand_over", None)
    trouble: StoreError | None = None
    try:
        handed = hand_over is not None and hand_over(ends)
    except StoreError as error:  # what is not the engine's to delete goes all the same
        handed, trouble = True, error
    if handed:
        keep = {family: moment for family, moment in keep.items() if family not in RAW}
    gone = store.expire(keep, dry_run=False)
    if trouble is not None:
        raise trouble
    return gone
