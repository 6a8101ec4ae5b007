"""
Deterministic document ids: the same document has the same id however often it is sent.

Eight hex digits of the time come first: ids that grow with time are indexed a third faster.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

from leadline.formats import DATASETS
from leadline.formats.times import epoch_seconds


def document_id(document: Mapping[str, object]) -> str:
    seconds, begun = begin(document)
    last = document.get(_KEYS[document["dataset"]][-1], "")  # type: ignore[index]
    return finish(seconds, begun, str(last).encode()).decode()


def begin(document: Mapping[str, object]) -> tuple[bytes, blake2b]:
    """
    What the documents of one snapshot share: eight digits, and a hash that wants its end.
    """
    dataset = document["dataset"]
    return _begun(dataset, *map(document.get, _KEYS[dataset][:-1]))  # type: ignore[index]


def finish(seconds: bytes, begun: blake2b, last: bytes) -> bytes:
    """
    The id, LAST being the end of the key.
    """
    digest = begun.copy()
    digest.update(last)
    return seconds + b2a_base64(digest.digest(), newline=False).translate(_URLSAFE)


_KEYS = {dataset.name: dataset.key for dataset in DATASETS.values()}
_URLSAFE = bytes.maketrans(b"+/", b"-_")


@lru_cache(maxsize=16384, typed=True)
def _begun(dataset: str, timestamp: str, *parts: object) -> tuple[bytes, blake2b]:
    shared = ["" if part is None else str(part) for part in parts]
    begun = blake2b("\x1f".join((dataset, timestamp, *shared, "")).encode(), digest_size=12)
    return b"%08x" % (epoch_seconds(timestamp) & 0xFFFFFFFF), begun
