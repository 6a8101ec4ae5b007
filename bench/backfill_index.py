"""
Reading Grid Engine's accounting into a real OpenSearch node, against the same documents posted raw.

A hundred thousand records, and their days, as the import makes them; twenty thousand with --quick.
Encoded beforehand and posted over two connections is what no client can beat.
"""

from __future__ import annotations

import http.client
import shutil
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import orjson

from bench.backfill import records, spent
from bench.report import Report, arguments
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sge import SgeReader
from enrich.backfill.sink import Sink, StoreSink
from enrich.backfill.tally import Rejects
from leadline.formats import DATASETS, Document
from leadline.formats.ids import document_id
from leadline.settings.common import RetentionSettings
from leadline.store.contract import Mode, Outcome
from leadline.store.memory import MemoryStore
from leadline.store.opensearch.node import Node, scratch_folder
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up
from leadline.store.opensearch.store import OpenSearchStore

BODY = 5_000_000
CONNECTIONS = 2


class Kept(StoreSink):
    """
    The documents an import makes.
    """

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.documents: list[Document] = []

    def put(self, documents: list[Document], mode: Mode = "replace") -> Outcome:
        self.documents += documents
        return Outcome(accepted=len(documents))


def read(sink: Sink, path: Path) -> None:
    options = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))
    reader = SgeReader(sink, options, Rejects(None), path.parent)
    with Source(str(path)) as source:
        reader.read(source, Seen(None))
    reader.close()
    assert not reader.tally.rejected, reader.tally


def index_of(document: Document) -> str:
    """
    Years, as both datasets are kept; beneath a prefix of their own.
    """
    moment = datetime.fromisoformat(str(document["@timestamp"]))
    return f"raw-{DATASETS[str(document['dataset'])].family}-{moment:%Y}"


def bodies(documents: list[Document]) -> list[bytes]:
    made, parts, size = [], list[bytes](), 0
    for document in documents:
        action = {"index": {"_index": index_of(document), "_id": document_id(document)}}
        parts.append(orjson.dumps(action) + b"\n" + orjson.dumps(document) + b"\n")
        size += len(parts[-1])
        if size > BODY:
            made.append(b"".join(parts))
            parts, size = [], 0
    return [*made, b"".join(parts)] if parts else made


def post(url: str, waiting: list[bytes]) -> None:
    address, lock = urlsplit(url), threading.Lock()

    def send() -> None:
        connection = http.client.HTTPConnection(str(address.hostname), address.port)
        while True:
            with lock:
                body = waiting.pop() if waiting else None
            if body is None:
                return connection.close()
            path = "/_bulk?filter_path=errors"
            connection.request("POST", path, body, {"Content-Type": "application/x-ndjson"})
            answer = connection.getresponse().read()
            assert answer == b'{"errors":false}', answer[:300]

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for sent in [pool.submit(send) for _ in range(CONNECTIONS)]:
            sent.result()


def count_of(store: OpenSearchStore, prefix: str) -> int:
    store.client.post(f"/{prefix}-*/_refresh")
    return int(store.client.get(f"/{prefix}-*/_count")["count"])


def measure(report: Report, url: str, folder: Path, count: int) -> None:
    path = folder / "accounting"
    path.write_bytes(
        b"".join(line for n in range(count // 10_000) for line in records(n, n * 10_000))
    )
    kept = Kept()
    making = spent(lambda: read(kept, path))
    number = len(kept.documents)
    report.add("made_rate", number / making.wall, "documents/s")
    stores = [OpenSearchStore([url], prefix=prefix) for prefix in ("raw", "ours")]
    for prefix, store in zip(("raw", "ours"), stores, strict=True):
        set_up(store.client, prefix, OpenSearchSettings(), RetentionSettings())
    for name in {index_of(document) for document in kept.documents}:
        assert stores[0].indices.ensure(name) is None
    warm = kept.documents[: number // 10]
    post(url, bodies([{**document, "job.run": f"{n}"} for n, document in enumerate(warm)]))
    encoded = bodies(kept.documents)
    raw = spent(lambda: post(url, encoded))
    assert count_of(stores[0], "raw") >= number
    report.add("limit_rate", number / raw.wall, "documents/s")
    ours = spent(lambda: read(StoreSink(stores[1]), path))
    assert count_of(stores[1], "ours") == number
    report.add("import_rate", number / ours.wall, "documents/s")
    report.add("import_vs_limit", raw.wall / ours.wall, "")
    report.add("client_cpu_per_million", ours.cpu / number * 1e6, "CPU s")
    again = spent(lambda: read(StoreSink(stores[1]), path))
    report.add("again_rate", number / again.wall, "documents/s")
    for store in stores:
        store.close()


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("backfill: a Grid Engine accounting file into OpenSearch")
    node = Node(scratch_folder(), heap="1g", light=False, tied=True)
    try:
        with tempfile.TemporaryDirectory(prefix="leadline-bench-") as folder:
            measure(report, node.start(), Path(folder), 20_000 if args.quick else 100_000)
    finally:
        node.stop()
        shutil.rmtree(node.folder, ignore_errors=True)
    report.finish(args)


if __name__ == "__main__":
    main()
