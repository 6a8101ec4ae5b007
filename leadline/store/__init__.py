"""Where documents live: one contract, three stores."""

from __future__ import annotations

from typing import Any

from leadline.errors import StoreError
from leadline.store.contract import Store


def kind_and_place(address: str) -> tuple[str, str]:
    """
    lake:FOLDER as lake and FOLDER; `=` is taken for the colon.
    """
    kind, _, place = address.replace("=", ":", 1).partition(":")
    return kind, place


def open_store(address: str, **options: Any) -> Store:
    """
    The store behind `lake:FOLDER`, `opensearch=URL[,URL]` or `memory`.
    """
    kind, rest = kind_and_place(address)
    try:
        if kind == "lake":
            from leadline.store.lake import LakeStore

            return LakeStore(rest, **options)
        if kind == "opensearch":
            from leadline.store.opensearch import OpenSearchStore

            return OpenSearchStore(rest.split(","), **options)
        if kind == "memory":
            from leadline.store.memory import MemoryStore

            return MemoryStore()
    except ImportError as error:
        extra = "opensearch" if kind == "opensearch" else "server"
        raise StoreError(
            f"store {kind} needs {error.name}: pip install 'leadline[{extra}]'"
        ) from None
    raise StoreError(f"store {address!r} is none of lake:FOLDER, opensearch=URL, memory")
