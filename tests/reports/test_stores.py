"""Nodes, cards, waits and strays are the same whichever store is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest

from leadline.chores.capacity import keep_capacity
from leadline.formats import Document
from leadline.reports.cards import cards_now
from leadline.reports.finding import Case
from leadline.reports.findings import findings
from leadline.reports.nodes import fleet, group_rows, node_rows
from leadline.reports.unused import never_used
from leadline.reports.waiting import waiting_rows, waits
from leadline.simulate import Plan, simulate
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

END = datetime(2026, 11, 20, tzinfo=UTC)
PLAN = Plan(seed=5, nodes=6, days=1, every=600, end=int(END.timestamp()), compress=False)
TOLD = ("node_state", "job_state", "job", "node", "process", "process_gpu", "gpu", "event")


def told(folder: Path) -> list[Document]:
    """
    A simulated fleet, as the worker would have stored it.
    """
    documents = []
    for path in simulate(PLAN, folder).files:
        for line in path.read_bytes().splitlines():
            document = orjson.loads(line)
            if document["dataset"] in TOLD:
                if "job.local_id" in document:
                    job = f"fox/{document['job.local_id']}"
                    document["job.id"] = job
                    if "job.submit" in document:
                        document["job.run"] = f"{job}@{document['job.submit']}"
                documents.append(document)
    return documents


def answers(store: Store) -> list[object]:
    start = datetime.fromtimestamp(PLAN.start, UTC)
    found = fleet(store, EVERYTHING, start, END)
    case = Case(store, EVERYTHING, start, END, END)
    return [
        node_rows(found),
        group_rows(found, "partition"),
        cards_now(store, EVERYTHING, END),
        [{**r, "hours": round(r["hours"], 6)} for r in
         waiting_rows(waits(store, EVERYTHING, start, END))],
        never_used(store, EVERYTHING, start, END),
        [(f.kind, f.object, f.since, f.evidence, _same(f.hours)) for f in findings(case)],
    ]  # fmt: skip


def capacity(store: Store) -> list[list[tuple[str, object]]]:
    """
    What the chore makes, twice: the second run finds nothing to do anew.
    """
    zone = ZoneInfo("Europe/Oslo")
    for hours in (1, 2):
        keep_capacity(store, END + timedelta(hours=hours), lambda cluster: zone)
    found = [d for batch in store.scan("capacity", EVERYTHING) for d in batch]
    given = ("record.version", "event.ingested")
    return sorted(
        sorted((n, _same(v)) for n, v in d.items() if n not in given and v is not None)
        for d in found
    )


def _same(value: object) -> object:
    """
    Sums of the same numbers in another order differ in their last digits.
    """
    return f"{value:.9g}" if isinstance(value, int | float) else value


@pytest.mark.opensearch
def test_every_store_gives_the_same(opensearch_store: Store, tmp_path: Path) -> None:
    """
    The naive store, the lake and OpenSearch.
    """
    documents = told(tmp_path / "fleet")
    lake = LakeStore(tmp_path / "lake")
    found = []
    for store in (MemoryStore(), lake, opensearch_store):
        for first in range(0, len(documents), 5000):
            store.write(documents[first : first + 5000], "replace")
        found.append([*answers(store), capacity(store)])
    lake.close()
    assert all(found[0][:4])
    assert len(found[0][-1]) > 24 * 5  # type: ignore[arg-type]
    assert found[0] == found[1]
    assert found[0] == found[2]
