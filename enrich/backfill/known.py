"""
What the store holds already of records that are read again and again.

A dump's version is its time, so each dump would replace all there is with the same. Compared by
content, what did not change is left alone and counted as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from enrich.backfill.sink import Sink
from leadline.formats import Document
from leadline.formats.ids import document_id
from leadline.formats.times import parse_time
from leadline.store.plan import Condition, Op

OURS = {"event.ingested", "record.version", "rules.version", "agent.version", "schema.version"}
SHARES = ("wall.seconds", "core_seconds_allocated", "core_seconds_used", "gpu_seconds_allocated")
TELLING = ("cluster", "host.name", "job.run", "node.name")  # what a scan can be narrowed by
MOST_NAMES = 10_000


@dataclass(slots=True)
class Sorted:
    """
    Documents of one dataset, of each key the last one.
    """

    new: list[Document] = field(default_factory=list)
    changed: list[Document] = field(default_factory=list)
    unchanged: int = 0  # the same is stored, or something newer
    repeated: int = 0


def sort_out(sink: Sink, documents: Sequence[Document]) -> Sorted:
    """
    DOCUMENTS, all of one dataset whose documents are replaced, by what the store knows of them.
    """
    latest = {document_id(document): document for document in documents}
    found = Sorted(repeated=len(documents) - len(latest))
    held = {document_id(document): document for document in _held(sink, list(latest.values()))}
    for name, document in latest.items():
        if name not in held:
            found.new.append(document)
        elif _version(held[name]) > _version(document) or _same(held[name], document):
            found.unchanged += 1
        else:
            found.changed.append(document)
    return found


def vanished(sink: Sink, runs: Sequence[Document], days: Sequence[Document]) -> list[Document]:
    """
    Days that RUNS, corrected now, did not touch after all: emptied, for nothing is ever deleted.
    """
    if not runs:
        return []
    touched = {document_id(day) for day in days}
    versions = {run["job.run"]: run.get("record.version", 0) for run in runs}
    start = parse_time(min(str(run["@timestamp"]) for run in runs)) - timedelta(days=2)
    where = (Condition("job.run", Op.IN, tuple(map(str, versions))),)
    return [
        {
            **day,
            **{name: 0.0 for name in SHARES if name in day},
            "hours": {},
            "record.version": versions[day["job.run"]],
        }
        for batch in sink.scan("job_slice", where, start, None)
        for day in batch
        if day.get("wall.seconds") and document_id(day) not in touched
    ]


def _held(sink: Sink, documents: Sequence[Document]) -> list[Document]:
    if not documents:
        return []
    times = [str(document["@timestamp"]) for document in documents]
    start, end = parse_time(min(times)), parse_time(max(times)) + timedelta(milliseconds=1)
    where = []
    for name in TELLING:
        values = {str(document[name]) for document in documents if name in document}
        if all(name in document for document in documents) and len(values) <= MOST_NAMES:
            where.append(Condition(name, Op.IN, tuple(sorted(values))))
    found = sink.scan(str(documents[0]["dataset"]), where, start, end)
    return [document for batch in found for document in batch]


def _version(document: Document) -> float:
    return float(str(document.get("record.version", 0)))


def _same(one: Document, other: Document) -> bool:
    return _content(one) == _content(other)


def _content(document: Document) -> Document:
    return {name: value for name, value in document.items() if name not in OURS}
