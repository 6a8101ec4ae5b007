"""
One snapshot of the machine: every collector at its turn, their documents with the fields all
documents share.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.times import from_epoch
from leadline.settings.plugins import plugged
from shipper.collectors import BUILT_IN
from shipper.collectors.contract import (
    Collector,
    CollectorModule,
    Gear,
    Keeps,
    Tick,
    UnavailableError,
)
from shipper.counters import Counters, State
from shipper.deadline import Answer, Deadline
from shipper.gpushare import named
from shipper.settings import CollectSettings
from shipper.system import System
from shipper.users import Users

SENDER = ("agent.version", "schema.version", "cluster")


@dataclass(frozen=True, slots=True)
class Tally:
    """
    What the shipper did since it started; a daemon sends the growth with its node documents.
    """

    documents: int = 0
    left_out: int = 0  # processes a filter left out
    failures: int = 0  # collectors that failed or were cut off


class Snapshots:
    """
    Takes snapshots one after the other. STATE is a folder that makes deltas survive a restart.
    """

    def __init__(
        self,
        settings: CollectSettings,
        system: System,
        state: Path | None = None,
        modules: Mapping[str, CollectorModule] = BUILT_IN,
    ) -> None:
        self._settings = settings
        self._system = system
        self._state = State(state)
        self._boot_id = system.boot_id()
        self._host = (settings.host or system.host_name()).lower()
        kept = self._state.load(self._boot_id)
        counters, looked_at = kept.get("counters"), kept.get("uptime")
        self._counters = Counters(counters if isinstance(counters, dict) else None)
        self._looked_at = float(looked_at) if isinstance(looked_at, int | float) else None
        gear = Gear(settings, system, self._counters, Users(system))
        self.unavailable: dict[str, str] = {}
        self._collectors: dict[str, Deadline] = {}
        self._memories: dict[str, object] = {}  # what each collector wants to be kept
        self.documents = self.failures = 0
        for name, module in {**modules, **plugged("collectors")}.items():
            if name not in settings.collectors:
                continue
            try:
                collector = module.build(gear)
            except UnavailableError as why:
                self.unavailable[name] = str(why)
                continue
            self._restore(name, collector, kept)
            self._collectors[name] = Deadline(name, collector, system)

    @property
    def is_first(self) -> bool:
        """
        Nothing is known to take deltas against.
        """
        return self._looked_at is None

    @property
    def tally(self) -> Tally:
        left_out = sum(getattr(d.collector, "left_out", 0) for d in self._collectors.values())
        return Tally(self.documents, left_out, self.failures)

    def take(self) -> list[Document]:
        """
        All documents of one look at the machine, ready to be sent.
        """
        return list(self.stream())

    def stream(self) -> Iterator[Document]:
        """
        The same one by one, for who cannot spare the memory; to be read to its end before the
        next look.
        """
        tick = self._tick()
        self._counters.turn()
        for deadline in self._collectors.values():
            deadline.start(tick)
        yield from self._late()
        until = self._system.uptime() + self._settings.deadline
        answers = {
            name: deadline.finish(until - self._system.uptime())
            for name, deadline in self._collectors.items()
        }
        own_cost = self._own_cost()
        self._looked_at = tick.uptime
        self._save(tick, answers)
        common = self._common(tick)
        self._give_cards(answers)
        node: Document = {"dataset": "node"}
        for name, (made, failure) in answers.items():
            for document in made:
                if is_part(document):
                    node.update(document)
                else:
                    yield self._complete(document, common)
            if failure is not None:
                yield self._failed(name, failure, common)
        self.documents += 1
        yield {**node, **own_cost, **common}

    def _late(self) -> Iterator[Document]:
        """
        What collectors answered after they were cut off, with the time it was measured at: their
        deltas were taken. The node's document of then is gone, so what its parts lost is told.
        """
        for name, deadline in self._collectors.items():
            if (answer := deadline.late()) is None:
                continue
            tick, (made, failure) = answer
            common = self._common(tick)
            lost: set[str] = set()
            for document in made:
                if is_part(document):
                    lost.update(document)
                else:
                    yield self._complete(document, common)
            if lost:
                names = ", ".join(sorted(lost - {"dataset"}))
                failure = f"answered late; the node's document lacks {names}"
            if failure is not None:
                yield self._failed(name, failure, common)

    def _complete(self, document: Document, common: Document) -> Document:
        self.documents += 1
        if "@timestamp" in document:
            # What names its own time speaks of something else than this node.
            document.update({name: common[name] for name in SENDER if name in common})
            return document
        document.update(common)
        if document["dataset"] == "event":
            document["@timestamp"] = common["sample.time"]
        return document

    def _failed(self, name: str, failure: str, common: Document) -> Document:
        self.failures += 1
        self.documents += 1
        told = notice(str(common["host.name"]), name, failure)
        return {**told, **common, "@timestamp": common["sample.time"]}

    def _give_cards(self, answers: dict[str, Answer]) -> None:
        """
        Processes on cards, as the cards' collectors found them, meet the process collector. That it
        hangs, or is not there, costs them no sample.
        """
        on_cards: list[Document] = []
        for name, (made, failure) in answers.items():
            if isinstance(made, list) and name != "process":
                on_cards += [d for d in made if d["dataset"] == "process_gpu"]
                answers[name] = [d for d in made if d["dataset"] != "process_gpu"], failure
        process = self._collectors.get("process")
        meet: Callable[[list[Document]], list[Document]] | None = None
        if process is not None:
            meet = getattr(process.collector, "named" if process.is_stuck else "attach", None)
        answers["process_gpu"] = (meet or partial(named, {}))(on_cards), None

    def close(self) -> None:
        for deadline in self._collectors.values():
            deadline.close()

    def _tick(self) -> Tick:
        wall, uptime = self._system.wall(), self._system.uptime()
        interval = uptime - self._looked_at if self._looked_at is not None else None
        if interval is not None and interval <= 0:
            interval = None
        return Tick(wall, uptime, interval, self._boot_id, self._host)

    def _common(self, tick: Tick) -> Document:
        """
        `@timestamp` is the middle of the interval: midnight's sample belongs to the day it
        measured. The interval is taken by the clock since boot, so a clock set back harms nothing.
        """
        common: Document = {
            "@timestamp": from_epoch(tick.wall - (tick.interval or 0.0) / 2),
            "host.name": tick.host,
            "boot.id": tick.boot_id,
            "sample.uptime": int(tick.uptime),
            "sample.time": from_epoch(tick.wall),
            "agent.version": agent_version(),
            "schema.version": SCHEMA_VERSION,
        }
        if self._settings.cluster:
            common["cluster"] = self._settings.cluster
        if tick.interval is not None:
            common["interval.seconds"] = round(tick.interval, 3)
        return common

    def _own_cost(self) -> Document:
        spent = self._counters.delta("shipper.cpu", self._system.own_cpu())
        return {} if spent is None else {"shipper.core_seconds": round(spent, 3)}

    def _restore(self, name: str, collector: Collector, kept: dict[str, object]) -> None:
        for part in ("collectors", "lasting"):
            memories = kept.get(part)
            if isinstance(memories, dict) and name in memories and isinstance(collector, Keeps):
                collector.restore(memories[name], self._looked_at)
                self._memories[name] = memories[name]

    def _save(self, tick: Tick, answers: dict[str, Answer]) -> None:
        if self._state.folder is None:
            return
        for name, deadline in self._collectors.items():
            if isinstance(deadline.collector, Keeps) and not deadline.is_stuck:
                self._memories[name] = deadline.collector.dump()
        lasting = {n for n, d in self._collectors.items() if getattr(d.collector, "lasts", False)}
        kept = {
            "uptime": tick.uptime,
            "counters": self._counters.values(),
            "collectors": {n: m for n, m in self._memories.items() if n not in lasting},
            "lasting": {n: m for n, m in self._memories.items() if n in lasting},
        }
        try:
            self._state.save(tick.boot_id, kept)
        except OSError as error:
            # Told and counted: the sample itself must go out.
            answers["state"] = [], f"cannot keep counters: {error.strerror}: {error.filename}"


def is_part(document: Document) -> bool:
    """
    Of the node's own document, which several collectors make together.
    """
    return document["dataset"] == "node"


def notice(host: str, collector: str, reason: str) -> Document:
    """
    A collector that could not do its work, as an event.
    """
    return {
        "dataset": "event",
        "rule.name": f"shipper.{collector}",
        "event.object": host,
        "event.kind": "notice",
        "event.severity": "warning",
        "event.reason": reason[:2000],
        "message": f"collector {collector} on {host}: {reason}"[:2000],
    }


def unavailable(settings: CollectSettings, system: System) -> dict[str, str]:
    """
    Collectors this machine cannot have, and why: for `leadline doctor`.
    """
    snapshots = Snapshots(settings, system)
    snapshots.close()
    return snapshots.unavailable


@cache
def agent_version() -> str:
    """
    From the name of the metadata's folder: importlib.metadata would cost 3 MB on every node.
    """
    for folder in sys.path:
        for found in Path(folder).glob("leadline-*.dist-info"):
            return found.name.removeprefix("leadline-").removesuffix(".dist-info")
    return "0"  # run from a source tree
