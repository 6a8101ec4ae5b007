"""
People forgotten in the search store: documents read, written as they may be kept, the rest deleted.

What is written goes first. Killed in between, a document whose id changed is there twice until the
same call is made again; nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from leadline.errors import StoreError
from leadline.formats import Document
from leadline.formats.ids import document_id
from leadline.store.contract import Outcome
from leadline.store.opensearch.client import NDJSON, Client
from leadline.store.opensearch.conditions import query
from leadline.store.people import People, naming
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING

NAMES_AT_ONCE = 1000
PAGE = 2000

Hits = Callable[[str, Mapping[str, object]], Iterator[list[Any]]]
Write = Callable[[Sequence[Document]], Outcome]


def forget(
    client: Client,
    hits: Hits,
    write: Write,
    dataset: str,
    people: People,
    before: datetime | None,
    *,
    dry_run: bool,
) -> int:
    names, count = sorted(people.aliases), 0
    for field in naming(dataset):
        for start in range(0, len(names), NAMES_AT_ONCE):
            wanted = (Condition(field, Op.IN, tuple(names[start : start + NAMES_AT_ONCE])),)
            body: dict[str, object] = {
                "size": PAGE,
                "query": query(dataset, EVERYTHING, wanted, None, before),
                "sort": ["_doc"],
            }
            for page in hits(dataset, body):
                count += len(page)
                if not dry_run:
                    _change(client, write, people, page)
    return count


def _change(client: Client, write: Write, people: People, page: Sequence[Any]) -> None:
    kept, gone = [], []
    for hit in page:
        new = people.changed(hit["_source"])
        if new is not None:
            kept.append(new)
        if new is None or document_id(new) != hit["_id"]:
            gone.append({"delete": {"_index": hit["_index"], "_id": hit["_id"]}})
    if kept:
        outcome = write(kept)
        if outcome.kept or outcome.rejected:
            why = outcome.reason or outcome.rejected[0][1]
            raise StoreError(f"{len(outcome.kept or outcome.rejected)} documents not kept: {why}")
    if gone:
        body = b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in gone)
        answer = client.post("/_bulk", body, headers=NDJSON, filter_path="errors,items.*.error")
        if answer.get("errors"):
            raise StoreError(f"{len(gone)} documents not deleted: {str(answer['items'])[:300]}")
