"""
A small simulated fleet on the real OpenSearch node, taken in by the chain and rolled up.

What the simulator does not send (file systems, events, strays …) is added, a few documents each.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from enrich.chain import build_chain
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery
from enrich.identity import Identities, Span
from enrich.ingest import ingest
from enrich.rules import read_rules
from enrich.settings import BackoffSettings, EnrichSettings
from enrich.step import Context
from kibana.live import Engine
from leadline.chores.capacity import keep_capacity
from leadline.chores.rollup import roll_up
from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.jobs import JOB_SLICE
from leadline.formats.times import from_epoch
from leadline.settings.common import RetentionSettings
from leadline.settings.zones import cluster_zone
from leadline.simulate import Plan, simulate
from leadline.store.opensearch import OpenSearchStore
from leadline.store.opensearch.setup import set_up
from tests.opensearch_fixture import SETTINGS

PREFIX = "leadlineboards"
END = 1_795_305_600
NOW = datetime.fromtimestamp(END, UTC)
BUSY = {"node.cores": 4, "core_seconds": 2700}  # three of four cores
# Two groups of groups above the visitors.
ABOVE = {"visitors": [Span("guests", "", "")], "guests": [Span("everybody", "", "")]}
PLAN = Plan(seed=3, nodes=6, days=1, every=1800, end=END, compress=False)


@pytest.fixture(scope="session")
def filled(opensearch: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSearchStore]:
    folder = tmp_path_factory.mktemp("boards")
    simulate(PLAN, folder)
    added = [*more(), *slices(folder)]
    (folder / "z-more.ndjson").write_bytes(b"".join(orjson.dumps(d) + b"\n" for d in added))
    store = OpenSearchStore([opensearch], prefix=PREFIX, settings=SETTINGS)
    # Other tests leave theirs; here nothing but this fleet may be counted.
    for index in store.client.get(f"/{PREFIX}-*", expand_wildcards="all"):
        store.client.demand("DELETE", f"/{index}")
    set_up(store.client, PREFIX, SETTINGS, RetentionSettings())
    take_in(store, folder)
    for chore in (roll_up, keep_capacity):
        chore(store, NOW + timedelta(minutes=30), lambda cluster: cluster_zone({}, cluster))
    store.client.post(f"/{PREFIX}-*/_refresh")
    yield store
    store.close()


@pytest.fixture
def engine(filled: OpenSearchStore) -> Engine:
    def call(method: str, path: str, body: object) -> tuple[int, object]:
        answer = filled.client.request(method, path, body)
        return answer.status, answer.body

    return call


def take_in(store: OpenSearchStore, folder: Path) -> None:
    chain = build_chain(
        Context(
            rules=read_rules(), clusters={}, cluster=None, identities=Identities(metagroups=ABOVE)
        ),
        EnrichSettings(),
    )
    letters = DeadLetters(folder / "dead")
    delivery = Delivery(
        store=store,
        chain=chain,
        letters=letters,
        backoff=BackoffSettings(),
        wait=threading.Event().wait,
        notice=print,
        tries=3,
    )
    files = [str(path) for path in sorted(folder.glob("*.ndjson"))]
    done = ingest(delivery, files, 2000, lambda tally: None)
    assert not done.failed
    assert not done.tally.dead_lettered


def slices(folder: Path) -> Iterator[Document]:
    """
    What accounting tells of each day of a run: here the first has it all.
    """
    lines = [line for path in folder.glob("*.ndjson") for line in path.read_bytes().splitlines()]
    found: list[Document] = [orjson.loads(line) for line in lines if b'"job.end"' in line]
    for job in found:
        if job["dataset"] == "job":
            yield {
                **{name: value for name, value in job.items() if name in JOB_SLICE.by_name},
                "dataset": "job_slice",
                "job.run": f"{job['job.local_id']}@{job['job.submit']}",
                "local.day": str(job["@timestamp"])[:10],
                "wall.seconds": job["job.wall.seconds"],
                "core_seconds_allocated": job["job.core_seconds.allocated"],
                "core_seconds_used": job.get("job.core_seconds.used"),
                "gpu_seconds_allocated": job.get("job.gpu_seconds.allocated"),
            }


def more() -> Iterator[Document]:
    for number in range(4):
        moment = END - 7200 - 900 * number
        head: Document = {
            "@timestamp": from_epoch(moment),
            "cluster": "fox",
            "agent.version": "made",
            "schema.version": SCHEMA_VERSION,
        }
        sample = {
            **head,
            "host.name": f"x1-{number % 2}",
            "boot.id": "b0",
            "sample.uptime": 90_000 - 900 * number,
            "sample.time": from_epoch(moment + 450),
            "interval.seconds": 900,
        }
        yield from _nodes(sample, number)
        yield from _processes(sample, number)
        event = {"dataset": "event", "rule.name": "hog", "event.object": f"x1-{number}"}
        said = {"event.severity": "warning", "message": f"x1-{number} is out of memory"}
        yield {**head, **event, **said, "record.version": 1}
        refused = {"dataset": "event", "rule.name": "dead letters", "event.kind": "notice"}
        why = {"event.object": "no @timestamp", "event.count": 3, "record.version": 1}
        yield {**head, **refused, **why}
        state = {"dataset": "node_state", "host.name": f"x1-{number}", "state.name": "DOWN"}
        yield {**head, **state, "state.reason": "disk", "state.hash": f"h{number}"}


def _nodes(sample: Document, number: int) -> Iterator[Document]:
    shipped = {"shipper.dropped_by_bound": 3, "shipper.dropped_by_rule": 5}
    shipped |= {"shipper.lag.seconds": 2 + number, "pressure.cpu.percent": 12.5}
    yield {**sample, **BUSY, "dataset": "node", "load.1m": 0.5, **shipped}
    sizes = {"filesystem.size.bytes": 1 << 40, "filesystem.used.bytes": 1 << 39}
    mount = {"filesystem.mount": "/scratch", "filesystem.used.percent": 50}
    yield {**sample, "dataset": "filesystem", **mount, **sizes}


def _processes(sample: Document, number: int) -> Iterator[Document]:
    known: Document = {
        "dataset": "process",
        "user.name": f"guest{number}",
        "user.id": f"77{number}",
        "user.group": "visitors",
        "process.name": "python3",
    }
    train = {"process.command_line": "python3 train_v2.py --epochs 5", "core_seconds": 1700}
    stray = {**train, "stray": True, "cpu.percent": 188.9, "process.pid": 71}
    yield {**sample, **known, **stray, "process.entity_id": f"71-{number}"}
    ranks = {"process.command_line": "mpirun -n 4 ./solve", "core_seconds": 3.5}
    yield {
        **sample,
        **known,
        **ranks,
        "process.name": "mpirun",
        "process.entity_id": f"73-{number}",
    }
    dead = {"process.state": "Z", "core_seconds": 0, "process.pid": 72}
    yield {**sample, **known, **dead, "process.entity_id": f"72-{number}"}
