"""
A look at slurmctld at its turn, and what changed since the one before.

What was told is remembered before it goes out, with the documents themselves. Whether those of the
last two looks came to the spool before a crash nobody knows, so the next run tells them again:
they have the same ids, so a change is neither lost nor doubled.
"""

from __future__ import annotations

from leadline.formats import Document
from shipper.collectors.contract import Gear, NoticeError, Tick
from shipper.collectors.slurm.accounting import Accounting
from shipper.collectors.slurm.asking import Asking
from shipper.collectors.slurm.changes import Changes
from shipper.collectors.slurm.pace import Pace


class SlurmCollector:
    lasts = True  # jobs and nodes live on when this machine is started anew

    def __init__(self, gear: Gear) -> None:
        settings = gear.settings.slurm_live
        self._system = gear.system
        self._pace = Pace(settings)
        self._budget = min(settings.timeout, gear.settings.deadline * 0.8)
        self._asking = Asking(gear.system, settings)
        self._accounting = Accounting(gear.system, settings)
        self._changes = Changes()
        self._told: list[list[Document]] = []  # of the last two looks
        self._again: list[Document] = []  # told before a restart, to whom nobody knows

    def __call__(self, tick: Tick) -> list[Document]:
        if not self._pace.due(tick.uptime):
            return []
        begun = self._system.uptime()
        look = self._asking.look(begun + self._budget)
        seconds = self._system.uptime() - begun
        self._pace.took(tick.uptime, seconds, look is not None)
        if look is None:
            raise NoticeError(
                f"slurmctld did not answer: {self._asking.problem};"
                f" asked again in {self._pace.wait:.0f} s"
            )
        documents = self._changes.of(look, tick.wall)
        documents += self._accounting.complete(
            self._changes.ended, self._changes.threads, int(tick.wall), begun + self._budget
        )
        documents += self._again
        self._again = []
        self._told = [*self._told[-1:], [dict(document) for document in documents]]
        documents.append(
            {
                "dataset": "node",
                "slurm.nodes": len(look.nodes),
                "slurm.jobs.pending": sum(job.state == "PENDING" for job in look.jobs),
                "slurm.jobs.running": sum(job.state == "RUNNING" for job in look.jobs),
                "slurm.call.seconds": round(seconds, 3),
            }
        )
        return documents

    def dump(self) -> object:
        told = [*self._again, *(document for look in self._told for document in look)]
        return {"changes": self._changes.dump(), "ended": self._accounting.dump(), "told": told}

    def restore(self, kept: object, looked_at: float | None) -> None:
        """
        Of what another version kept, and this one does not understand, nothing is taken.
        """
        try:
            assert isinstance(kept, dict)
            self._changes.restore(kept["changes"])
            self._accounting.restore(kept["ended"])
            self._again = [dict(document) for document in kept.get("told", ())]
        except (AssertionError, KeyError, IndexError, TypeError, ValueError):
            self._changes, self._again = Changes(), []
