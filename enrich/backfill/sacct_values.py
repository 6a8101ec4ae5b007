"""
Slurm's words: times, durations, sizes, TRES and states as `sacct` prints them.
"""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from enrich.backfill.options import EARLIEST, LATEST
from leadline.errors import FormatError

ABSENT = frozenset({"", "Unknown", "None", "N/A", "NONE", "(null)", "None assigned"})
_DURATION = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)[cn]?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def instant(text: str, zone: ZoneInfo) -> int | None:
    """
    Seconds since 1970; times without a zone are the cluster's own.
    """
    if text in ABSENT:
        return None
    if text.isdigit():
        seconds = int(text)
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise FormatError(f"not a time: {text[:40]!r}") from None
        seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp())
    if not EARLIEST <= seconds < LATEST:
        raise FormatError(f"time outside 1990-2100: {text[:40]!r}")
    return seconds


def duration(text: str) -> float | None:
    """
    [days-][[hours:]minutes:]seconds[.fraction]: 45:21.005 is 2721.005 seconds.
    """
    if text in ABSENT or text in ("UNLIMITED", "Partition_Limit", "INVALID"):
        return None
    match = _DURATION.fullmatch(text)
    if match is None:
        raise FormatError(f"not a duration: {text[:40]!r}")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def size(text: str) -> int | None:
    """
    Bytes of 317032K, 384G or 4000Mn; a plain number is bytes.
    """
    if text in ABSENT:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        raise FormatError(f"not a size: {text[:40]!r}")
    return int(float(match[1]) * 1024 ** _POWERS[match[2]])


def tres(text: str) -> dict[str, str]:
    """
    cpu=4,mem=16G,gres/gpu=2,gres/gpu:a100=2 by name.
    """
    pairs = (item.partition("=") for item in text.split(",") if "=" in item)
    return {name: value for name, _, value in pairs}


def gpus(found: dict[str, str]) -> tuple[int, tuple[str, ...]] | None:
    """
    How many cards and of which models: a total and its parts are not added together.
    """
    typed = {n.partition(":")[2]: v for n, v in found.items() if n.startswith("gres/gpu:")}
    total = found.get("gres/gpu")
    if total is None and not typed:
        return None
    counts = [int(value) for value in typed.values() if value.isdigit()]
    number = int(total) if total and total.isdigit() else sum(counts)
    return number, tuple(sorted(typed))


def state(text: str) -> tuple[str, str | None]:
    """
    CANCELLED by 2101037: the state, and who did it.
    """
    word, _, who = text.partition(" by ")
    return word.strip(), who.strip() or None
