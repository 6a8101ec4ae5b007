"""
Cards and processes brought together: who a process on a card is, and what a process has of cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.formats import Document
from shipper.seen import Seen

ABOUT = (
    "process.entity_id",
    "process.name",
    "process.command_line",
    "user.name",
    "user.id",
    "job.local_id",
    "job.step",
)


@dataclass(slots=True)
class Share:
    """
    What one process has of all cards.
    """

    cards: int = 0
    memory: int | None = None
    seconds: float | None = None

    def add(self, document: Document) -> None:
        self.cards += 1
        memory, seconds = document.get("gpu.memory.bytes"), document.get("gpu_seconds")
        if isinstance(memory, int):
            self.memory = (self.memory or 0) + memory
        if isinstance(seconds, int | float):
            self.seconds = (self.seconds or 0.0) + seconds

    def fields(self, interval: float | None) -> Document:
        found: Document = {"gpu.count": self.cards}
        if self.memory is not None:
            found["gpu.memory.bytes"] = self.memory
        if self.seconds is not None:
            found["gpu_seconds"] = round(self.seconds, 3)
        if interval:
            found["gpu_held_seconds"] = round(self.cards * interval, 3)
        return found


def attach(seen: Mapping[int, Seen], documents: list[Document]) -> list[Document]:
    """
    DOCUMENTS of processes on cards with user, command and job; without those of processes that a
    filter leaves out. The processes learn their share.
    """
    for each in seen.values():
        if each.gpu is not None:
            each.gpu, each.settled = None, False
    for document in documents:
        process = _process(seen, document)
        if process is None or not process.wanted:
            continue
        if process.gpu is None:
            process.gpu = Share()
        process.gpu.add(document)
        process.settled = False
    return named(seen, documents)


def named(seen: Mapping[int, Seen], documents: list[Document]) -> list[Document]:
    """
    The same, but nothing is done to the processes: while their collector hangs they are its own,
    and what it knew of them at the last tick is still who they are.
    """
    kept: list[Document] = []
    for document in documents:
        process = _process(seen, document)
        if process is None:  # of another pid namespace, gone meanwhile, or nobody looks
            kept.append({**document, "process.entity_id": f"{document['process.pid']}-0"})
        elif process.wanted:
            about = {name: process.document[name] for name in ABOUT if name in process.document}
            kept.append({**document, **about})
    return kept


def _process(seen: Mapping[int, Seen], document: Document) -> Seen | None:
    pid = document["process.pid"]
    return seen.get(pid) if isinstance(pid, int) else None


def together(group: list[Seen]) -> Share | None:
    """
    The share of rolled-up processes.
    """
    shares = [process.gpu for process in group if process.gpu is not None]
    if not shares:
        return None
    memory = [share.memory for share in shares if share.memory is not None]
    seconds = [share.seconds for share in shares if share.seconds is not None]
    return Share(
        sum(share.cards for share in shares),
        sum(memory) if memory else None,
        sum(seconds) if seconds else None,
    )
