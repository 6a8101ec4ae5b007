"""
Indexing against its limit, on a real OpenSearch node beside it: pre-encoded bodies posted raw, our
sender, the whole way with enrichment, and client libraries' own helpers.

Cases take turns within each round, after a warm-up; medians are compared. The node runs with a
gigabyte of heap on the same cores: documents/s judge both together, CPU seconds the client alone.
The way with enrichment starts like a worker that has been running for ten minutes. Then the bytes
on disk, merged, against the engine's default mapping.
"""

from __future__ import annotations

import gc
import http.client
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import orjson

from bench.indexers import ready
from bench.report import Report, arguments
from bench.samples import HOSTS, PROCESSES, lines
from enrich.chain import build_chain
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery
from enrich.interpreter import make_fit
from enrich.rules import read_rules
from enrich.settings import BackoffSettings
from enrich.step import Context
from leadline.errors import StoreError
from leadline.formats import Document
from leadline.formats.ids import document_id
from leadline.formats.validate import read_line
from leadline.settings.common import RetentionSettings
from leadline.store.opensearch.node import Node, scratch_folder
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up
from leadline.store.opensearch.store import OpenSearchStore

PREFIX = "bench"
INDEX = f"{PREFIX}-process-2026.11"
BATCH = 20_000  # documents in one write, as the worker's default
BODY = 5_000_000
CONNECTIONS = 2
PATIENCE = 300  # seconds, on a machine with other work
RULES = read_rules()


@dataclass(slots=True)
class Load:
    """
    The same samples in the three states that cases start from.
    """

    before: list[bytes]  # what came in the ten minutes before
    lines: list[bytes]  # as shippers send them
    documents: list[Document]  # enriched
    bodies: list[bytes]  # encoded for the bulk API

    def write(self, folder: Path) -> Path:
        path = folder / "bodies.ndjson"
        path.write_bytes(b"".join(self.bodies))
        return path


def make_load(count: int) -> Load:
    running = 10 * HOSTS * PROCESSES
    every = list(lines(running + count))
    raw = every[running:]
    working = delivery(None)
    documents = [working.chain.one(read_line(line)) for line in raw]
    return Load(every[:running], raw, documents, list(encoded(documents)))


def encoded(documents: list[Document]) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    for document in documents:
        action = {"create": {"_index": INDEX, "_id": document_id(document)}}
        line = orjson.dumps(action) + b"\n" + orjson.dumps(document) + b"\n"
        if size + len(line) > BODY:
            yield b"".join(parts)
            parts, size = [], 0
        parts.append(line)
        size += len(line)
    yield b"".join(parts)


def delivery(store: Any) -> Delivery:
    chain = build_chain(Context(rules=RULES, cluster="fox"))
    letters = DeadLetters(Path(tempfile.gettempdir()) / "leadline-bench-deadletters")
    wait = threading.Event().wait
    return Delivery(store, chain, letters, BackoffSettings(), wait, print, tries=3)


class Cases:
    """
    Each case stores the whole load in an index of its own and says how many it stored.
    """

    def __init__(self, url: str, load: Load) -> None:
        self.url = url
        self.load = load
        self.store = OpenSearchStore([url], prefix=PREFIX)
        self.worker = delivery(self.store)

    def fresh(self) -> None:
        """
        An empty index, and a worker that has seen none of the load.
        """
        self.worker = delivery(self.store)
        self.worker.enrich(self.load.before, "bench")
        self.store.client.request("DELETE", f"/{INDEX}")
        self.store.indices.forget(INDEX)
        assert self.store.indices.ensure(INDEX) is None

    def limit(self) -> None:
        """
        Ready bodies over raw connections: nothing a client could do is less.
        """
        bodies = iter(self.load.bodies)
        lock = threading.Lock()

        def send() -> None:
            address = urlsplit(self.url)
            connection = http.client.HTTPConnection(str(address.hostname), address.port)
            while True:
                with lock:
                    body = next(bodies, None)
                if body is None:
                    return connection.close()
                path = "/_bulk?filter_path=errors"
                connection.request("POST", path, body, {"Content-Type": "application/x-ndjson"})
                answer = connection.getresponse().read()
                assert answer == b'{"errors":false}', answer[:300]

        threads = [threading.Thread(target=send) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def sending(self) -> None:
        for start in range(0, len(self.load.documents), 2 * BATCH):
            outcome = self.store.write(self.load.documents[start : start + 2 * BATCH], "create")
            assert not outcome.rejected, outcome.rejected[0]

    def end_to_end(self) -> None:
        """
        As a worker with two batches under way does it.
        """
        load = self.load.lines
        parts = [load[start : start + BATCH] for start in range(0, len(load), BATCH)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda part: self.worker.lines(part, "bench"), parts))

    def helpers_bulk(self) -> None:
        from opensearchpy import OpenSearch
        from opensearchpy.helpers import bulk

        bulk(OpenSearch(self.url, timeout=PATIENCE), self.actions())

    def parallel_bulk(self) -> None:
        from opensearchpy import OpenSearch
        from opensearchpy.helpers import parallel_bulk

        for ok, item in parallel_bulk(OpenSearch(self.url, timeout=PATIENCE), self.actions()):
            assert ok, item

    def actions(self) -> Iterator[Document]:
        for document in self.load.documents:
            action = {"_op_type": "create", "_index": INDEX, "_id": document_id(document)}
            yield {**action, "_source": document}

    def count(self) -> int:
        self.store.client.post(f"/{INDEX}/_refresh")
        return int(self.store.client.get(f"/{INDEX}/_count")["count"])


@dataclass(frozen=True, slots=True)
class Figure:
    rate: float
    cpu: float  # seconds of the client per million documents


def measure(cases: Cases, work: Callable[[], object]) -> Figure:
    cases.fresh()
    before, began = cpu_seconds(), time.perf_counter()
    work()
    wall = time.perf_counter() - began
    count = len(cases.load.lines)
    figure = Figure(count / wall, (cpu_seconds() - before) / count * 1e6)
    assert cases.count() == count
    return figure


def cpu_seconds() -> float:
    mine = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def bytes_each(cases: Cases, index: str) -> float:
    client = cases.store.client
    client.post(f"/{index}/_forcemerge", max_num_segments=1, timeout=600)
    client.post(f"/{index}/_refresh")
    client.post(f"/{index}/_flush")
    stats = client.get(f"/{index}/_stats/store")["_all"]["primaries"]["store"]
    return float(stats["size_in_bytes"]) / len(cases.load.lines)


def sizes(cases: Cases, report: Report) -> None:
    """
    The same documents under the engine's default mapping, under ours, and under other codecs.
    """
    client = cases.store.client
    cases.fresh()
    cases.sending()
    shipped = bytes_each(cases, INDEX)
    client.request("DELETE", "/defaultmapping")
    for body in cases.load.bodies:
        moved = body.replace(f'"_index":"{INDEX}"'.encode(), b'"_index":"defaultmapping"')
        client.post("/_bulk", moved, headers={"content-type": "application/x-ndjson"})
    default = bytes_each(cases, "defaultmapping")
    report.add("bytes_default", default, "bytes/document")
    report.add("bytes_shipped", shipped, "bytes/document")
    report.add("bytes_vs_default", shipped / default, "", "<= 0.50")


def codecs(cases: Cases, report: Report) -> None:
    """
    What the codec does to speed and size; zstd where its plug-in is.
    """
    client = cases.store.client
    for codec in ("default", "best_compression", "zstd_no_dict"):
        try:
            set_up(client, PREFIX, OpenSearchSettings(codec=codec), RetentionSettings())
        except StoreError as error:
            print(f"  codec {codec} is not there: {error}", file=sys.stderr)
            continue
        figure = measure(cases, cases.limit)
        report.add(f"codec_{codec}_rate", figure.rate, "documents/s")
        report.add(f"codec_{codec}_bytes", bytes_each(cases, INDEX), "bytes/document")
    set_up(client, PREFIX, OpenSearchSettings(), RetentionSettings())


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("index: documents into OpenSearch")
    count, rounds = (60_000, 1) if args.quick else (200_000, 3)
    load = make_load(count)
    make_fit()  # as the worker does
    gc.collect()
    gc.freeze()  # a worker does not hold the whole load in memory, nor look through it
    node = Node(scratch_folder(), heap="1g", light=False, tied=True)
    folder = tempfile.TemporaryDirectory()
    try:
        cases = Cases(node.start(), load)
        set_up(cases.store.client, PREFIX, OpenSearchSettings(), RetentionSettings())
        named: dict[str, Callable[[], object]] = {
            "limit": cases.limit,
            "sending": cases.sending,
            "end_to_end": cases.end_to_end,
            "helpers_bulk": cases.helpers_bulk,
            "parallel_bulk": cases.parallel_bulk,
        }
        if not args.quick:
            bodies = load.write(Path(folder.name))
            for peer in ready():
                named[peer.name.replace("-", "_")] = partial(peer.load, cases.url, bodies)
        for _ in range(1 if args.quick else 2):
            measure(cases, cases.limit)  # a cold engine is slow and tells nothing
        figures: dict[str, list[Figure]] = {name: [] for name in named}
        for _ in range(rounds):
            for name, work in named.items():
                figures[name].append(measure(cases, work))
                print(f"  {name}: {figures[name][-1]}", file=sys.stderr, flush=True)
        tell(report, figures)
        sizes(cases, report)
        if not args.quick:
            codecs(cases, report)
        cases.store.close()
    finally:
        folder.cleanup()
        node.stop()
        shutil.rmtree(node.folder, ignore_errors=True)
    report.finish(args)


def tell(report: Report, figures: dict[str, list[Figure]]) -> None:
    rates = {name: median(figure.rate for figure in found) for name, found in figures.items()}
    cpus = {name: median(figure.cpu for figure in found) for name, found in figures.items()}
    for name, rate in rates.items():
        report.add(f"{name}_rate", rate, "documents/s")
        report.add(f"{name}_cpu", cpus[name], "CPU s/million")
    report.add("sending_vs_limit", rates["sending"] / rates["limit"], "", ">= 0.80")
    report.add("end_to_end_vs_limit", rates["end_to_end"] / rates["limit"], "", ">= 0.65")
    report.add("client_cpu_per_million", cpus["end_to_end"], "CPU s", "<= 12")


if __name__ == "__main__":
    main()
