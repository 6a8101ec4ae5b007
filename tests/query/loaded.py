"""
Data sets as sites bring them, each read into a store as `leadline backfill` reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson

from bench.recorded import recorded_node
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.readers import FORMATS
from enrich.backfill.seen import Seen
from enrich.backfill.sink import LakeSink, StoreSink
from enrich.backfill.tally import Rejects
from enrich.chain import build_chain
from enrich.rules import read_rules
from enrich.step import Context
from leadline.chores.run import CHORES, Work, do
from leadline.formats import DATASETS, Document
from leadline.settings.common import ClusterSettings
from leadline.simulate import Plan, simulate
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.scope import EVERYTHING
from shipper.writers import TSV

BACKFILL = Path(__file__).parents[1] / "enrich" / "backfill"
SONAR = BACKFILL / "cases" / "sonar"
ZONE = ZoneInfo("Europe/Oslo")
RULES = read_rules()
Files = Callable[[Path], list[Path]]


def read(store: Store, format: str, files: list[Path], staging: Path) -> None:
    """
    Each file is of a cluster of its own, so that numbers of jobs do not meet.
    """
    for number, path in enumerate(files):
        sink = LakeSink(store) if isinstance(store, LakeStore) else StoreSink(store)
        name = f"c{number}"
        context = Context(
            rules=RULES, clusters={name: ClusterSettings(zone=ZONE.key)}, cluster=name
        )
        options = Options(cluster=name, zone=ZONE, chain=partial(build_chain, context))
        reader = FORMATS[format].build(sink, options, Rejects(None), staging)
        with Source(str(path)) as source:
            reader.read(source, Seen(None), lambda position: None)
        reader.close()
        assert reader.tally.inserted, path


def keep(store: Store, now: datetime) -> None:
    """
    Hourly usage and capacity, as chores make them.
    """
    for chore in CHORES:
        if chore.name in ("rollup", "capacity"):
            do(chore, Work(store, now, lambda cluster: ZONE))


def documents(store: Store) -> list[Document]:
    return [
        document
        for name in DATASETS
        for batch in store.scan(name, EVERYTHING, order=())
        for document in batch
    ]


def grid_engine(folder: Path) -> list[Path]:
    """
    What real daemons wrote, and accounting of other versions.
    """
    return sorted((BACKFILL / "cases" / "sge").glob("*/input"))


def slurm(folder: Path) -> list[Path]:
    """
    The same jobs as tables and as JSON.
    """
    captures = BACKFILL / "captures" / "slurm-22.05.8"
    return [captures / name for name in ("sacct_wide.txt", "sacct_all.txt", "sacct.json")]


def node(folder: Path) -> list[Path]:
    """
    The process table of a real node.
    """
    found, _ = recorded_node()
    path = folder / "node.ndjson"
    path.write_bytes(b"\n".join(orjson.dumps(document) for document in found))
    return [path]


def table(folder: Path) -> list[Path]:
    """
    The same node twice, five minutes apart, in the table for people.
    """
    found, _ = recorded_node(roll_up=False)
    writer, path = TSV(), folder / "node.tsv"
    later = [{**d, "sample.time": "2026-11-20T12:05:00.000Z"} for d in found]
    both = [*({**d, "sample.time": "2026-11-20T12:00:00.000Z"} for d in found), *later]
    path.write_bytes(writer.head() + b"".join(writer.lines(both)))
    return [path]


def fleet(folder: Path) -> list[Path]:
    """
    Three nodes over two days, as their shippers tell of them.
    """
    plan = Plan(seed=5, nodes=3, days=2, every=3600, end=1_795_305_600, compress=False)
    return list(simulate(plan, folder / "fleet").files)


SETS: dict[str, tuple[str, Files]] = {
    "grid-engine": ("sge", grid_engine),
    "slurm": ("sacct", slurm),
    **{
        f"sonar-{case.name}": ("sonar", lambda folder, case=case: [case / "input"])  # type: ignore[misc]
        for case in sorted(SONAR.iterdir())
    },
    "node": ("ndjson", node),
    "table": ("tsv", table),
    "fleet": ("ndjson", fleet),
}
