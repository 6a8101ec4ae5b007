"""
Instants on the wire: any ISO 8601 with a zone comes in, UTC with milliseconds is kept.

One written form per instant, so that text order is time order and keys are equal when times are.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from leadline.errors import FormatError

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
WIDTH = len("2026-11-21T04:37:50.123Z")


def format_time(moment: datetime) -> str:
    """
    The one written form: 2026-11-21T04:37:50.123Z.
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def from_epoch(seconds: float) -> str:
    """
    The written form of a Unix time, rounded to the millisecond.
    """
    return format_time(datetime.fromtimestamp(round(seconds, 3) + 1e-6, UTC))


@lru_cache(maxsize=65536)
def parse_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise FormatError(f"not an ISO 8601 time: {text[:40]!r}") from None
    if moment.tzinfo is None:
        raise FormatError(f"time without a zone: {text[:40]!r}; end it in Z or an offset")
    try:
        utc = moment.astimezone(UTC)
    except OverflowError:
        raise FormatError(f"time out of range: {text[:40]!r}") from None
    if not EARLIEST <= utc < LATEST:
        raise FormatError(f"time outside 1990–2100: {text[:40]!r}")
    return utc


@lru_cache(maxsize=65536)
def canonical_time(text: str) -> str:
    return format_time(parse_time(text))


@lru_cache(maxsize=65536)
def epoch_seconds(text: str) -> int:
    return int(parse_time(text).timestamp())
