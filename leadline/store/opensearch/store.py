"""
The store contract on OpenSearch (and Elasticsearch): each verb is short, its work is next door.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from leadline.errors import StoreError
from leadline.formats import DATASETS, Document
from leadline.formats.templates import PREFIX
from leadline.store.contract import Expired, Found, Health, Mode, Outcome, Ready
from leadline.store.opensearch import lifecycle
from leadline.store.opensearch.aggregations import answer, explain_failure
from leadline.store.opensearch.bulk import SAMPLES, Backoff, Sender
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.conditions import query
from leadline.store.opensearch.forget import forget
from leadline.store.opensearch.health import health
from leadline.store.opensearch.indices import Indices
from leadline.store.opensearch.search import find
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.people import People
from leadline.store.plan import Condition, Plan, Row
from leadline.store.scope import Scope

PAGE = 5_000
KEEP_OPEN = "5m"  # of a scan, between two pages


class OpenSearchStore:
    """
    Many machines' documents in time-based indices.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        *,
        prefix: str = PREFIX,
        settings: OpenSearchSettings | None = None,
        backoff: Backoff | None = None,
        username: str = "",
        password: str = "",
        api_key: str = "",
        ca_file: Path | None = None,
        verify: bool = True,
    ) -> None:
        self.settings = settings or OpenSearchSettings()
        self.client = Client(
            hosts,
            username=username,
            password=password,
            api_key=api_key,
            ca_file=ca_file,
            verify=verify,
            compress=self.settings.compress,
            timeout=self.settings.timeout,
            connections=self.settings.worker + 2,
        )
        self.prefix = prefix
        self.indices = Indices(self.client, prefix, self.settings.daily)
        self.sender = Sender(
            self.client, self.indices, workers=self.settings.worker, backoff=backoff
        )
        self.unseen: set[Any] = set()  # datasets written here and not yet refreshed

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        outcome = self.sender.write(documents, mode)
        self.unseen |= {name for d in documents if (name := d.get("dataset")) in DATASETS}
        return outcome

    def write_ready(self, lines: Iterable[Ready]) -> Outcome:
        self.unseen.update(SAMPLES)
        return self.sender.write_ready(lines)

    def scan(
        self,
        dataset: str,
        scope: Scope,
        *,
        where: Sequence[Condition] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        fields: Sequence[str] | None = None,
        order: Sequence[str] = ("@timestamp",),
        limit: int | None = None,
    ) -> Iterator[list[Document]]:
        scope.allow_documents()
        self.refresh(dataset)
        body = {
            "size": min(PAGE, limit or PAGE),
            "query": query(dataset, scope, where, start, end),
            "sort": [sort_key(name) for name in order],
        }
        left = limit
        for hits in self.scroll(dataset, body):
            page = [chosen(hit["_source"], fields) for hit in islice(hits, left)]
            if page:
                yield page
            if left is not None:
                left -= len(page)
                if left <= 0:
                    return

    def scroll(self, dataset: str, body: Mapping[str, object]) -> Iterator[list[Any]]:
        page = self.ask_engine(dataset, body, scroll=KEEP_OPEN)
        try:
            while page["hits"]["hits"]:
                yield page["hits"]["hits"]
                if len(page["hits"]["hits"]) < body["size"]:  # type: ignore[operator]
                    return
                more = {"scroll": KEEP_OPEN, "scroll_id": page["_scroll_id"]}
                page = self.client.post("/_search/scroll", more)
        finally:
            if "_scroll_id" in page:  # no index, no scroll
                self.client.request("DELETE", "/_search/scroll", {"scroll_id": page["_scroll_id"]})

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        scope.allow_plan(plan)
        self.refresh_own(plan.dataset)
        return answer(plan, scope, lambda body: self.ask_engine(plan.dataset, body))

    def search(
        self,
        text: str,
        scope: Scope,
        *,
        where: Sequence[Condition] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 20,
    ) -> Found:
        scope.allow_documents()
        self.refresh_own("process")
        return find(
            text,
            scope,
            lambda body: self.ask_engine("process", body),
            where=where,
            start=start,
            end=end,
            limit=limit,
        )

    def expire(self, keep: Mapping[str, datetime], *, dry_run: bool) -> list[Expired]:
        self.refresh_all_own()
        return lifecycle.expire(self.client, self.prefix, keep, dry_run=dry_run)

    def forget(
        self,
        dataset: str,
        people: People,
        *,
        before: datetime | None = None,
        dry_run: bool,
    ) -> int:
        self.refresh(dataset)
        count = forget(
            self.client,
            self.scroll,
            lambda documents: self.write(documents, "replace"),
            dataset,
            people,
            before,
            dry_run=dry_run,
        )
        if count and not dry_run:
            self.refresh(dataset)
        return count

    def hand_over(self, ends: Mapping[str, datetime]) -> bool:
        """
        Leave raw months that end by ENDS, which are sealed, to the engine; False: it cannot.
        """
        return lifecycle.hand_over_sealed(self.client, self.prefix, ends)

    def compact(self) -> int:
        """
        Merge indices whose period is over; the chores call this.
        """
        return len(
            lifecycle.merge_closed(self.client, self.prefix, now=datetime.now(UTC), dry_run=False)
        )

    def health(self) -> Health:
        self.refresh_all_own()
        return health(self.client, self.prefix)

    def close(self) -> None:
        self.sender.close()
        self.client.close()

    def ask_engine(self, dataset: str, body: Mapping[str, object], **params: Any) -> Any:
        """
        One search over the dataset's indices: whole, or an error that says what to do.
        """
        path = f"/{self.indices.pattern(dataset)}/_search"
        found = self.client.request(
            "POST",
            path,
            dict(body),
            allow_no_indices=True,
            ignore_unavailable=True,
            allow_partial_search_results=None if "scroll" in params else False,
            **params,
        )
        if not found.ok:
            raise explain_failure(found.reason)
        if found.body.get("timed_out") or found.body.get("_shards", {}).get("failed"):
            raise explain_failure("timed out" if found.body.get("timed_out") else "shards failed")
        return found.body

    def refresh_own(self, dataset: str) -> None:
        """
        Whoever writes and asks through one store sees what was written.
        """
        if dataset in self.unseen:
            self.refresh(dataset)

    def refresh_all_own(self) -> None:
        for dataset in tuple(self.unseen):
            self.refresh(dataset)

    def refresh(self, dataset: str) -> None:
        """
        Make visible what anyone wrote: a roll-up reads all there is.
        """
        self.unseen.discard(dataset)
        self.client.request(
            "POST", f"/{self.indices.pattern(dataset)}/_refresh", ignore_unavailable=True
        )


def sort_key(name: str) -> dict[str, object]:
    direction = "desc" if name.startswith("-") else "asc"
    return {name.removeprefix("-"): {"order": direction, "missing": "_last"} | unmapped(name)}


def unmapped(name: str) -> dict[str, object]:
    for dataset in DATASETS.values():
        if field := dataset.by_name.get(name.removeprefix("-")):
            return {"unmapped_type": "date" if field.type == "day" else str(field.type)}
    raise StoreError(f"{name}: no field to order by")


def chosen(source: Document, fields: Sequence[str] | None) -> Document:
    if fields is None:
        return source
    return {name: value for name, value in source.items() if name in fields}
