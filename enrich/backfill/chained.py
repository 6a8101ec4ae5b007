"""
Documents a reader made, through the chain into the store: what came by file is enriched as what
came by wire.
"""

from __future__ import annotations

from enrich.backfill.known import sort_out
from enrich.backfill.options import Options
from enrich.backfill.sink import BATCH, Sink
from enrich.backfill.tally import Rejects, Tally
from enrich.delivery import by_mode
from enrich.run_days import Days, no_days
from leadline.errors import FormatError, StoreError
from leadline.formats import Document
from leadline.formats.ids import document_id
from leadline.formats.times import epoch_seconds
from leadline.formats.validate import check
from leadline.store.contract import Mode, Outcome


class Chained:
    """
    `add` counts each document once; `flush` comes before a place in a file is remembered.
    """

    def __init__(
        self, sink: Sink, options: Options, rejects: Rejects, days: Days = no_days
    ) -> None:
        self.sink = sink
        self.days = days  # what is stored with a run, for readers that do not tell of it themselves
        self.options = options
        self.rejects = rejects
        self.tally = Tally()
        self._chain = options.build_chain()
        self._waiting: list[Document] = []

    def add(self, name: str, line: int, raw: bytes, document: Document) -> None:
        """
        DOCUMENT, which stood in LINE of the file NAME.
        """
        try:
            checked = check({n: v for n, v in document.items() if v is not None})
            done = self._chain.one(checked)
        except (FormatError, ValueError, OverflowError) as error:
            self.refuse(name, line, raw, str(error))
            return
        self.tally.read += 1
        if not self.options.since <= epoch_seconds(str(done["@timestamp"])) < self.options.until:
            self.tally.outside += 1
            return
        days = [self._chain.one(day) for day in self.days(done)]
        self.tally.read += len(days)
        self._waiting += [done, *days]
        if len(self._waiting) >= BATCH:
            self.flush()

    def refuse(self, name: str, line: int, raw: bytes, reason: str) -> None:
        self.tally.read += 1
        self._reject(name, line, raw, reason)

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for mode, documents in by_mode(waiting):
            if mode == "create":
                distinct: dict[str, Document] = {}  # of a repeat the first holds
                for document in documents:
                    distinct.setdefault(document_id(document), document)
                self.tally.duplicate += len(documents) - len(distinct)
                outcome = self._put(list(distinct.values()), mode)
                self.tally.inserted += outcome.accepted
                self.tally.unchanged += outcome.duplicate
            else:
                self._replace(documents)

    def _replace(self, documents: list[Document]) -> None:
        """
        What may be corrected is compared with what is stored, dataset by dataset.
        """
        by_dataset: dict[str, list[Document]] = {}
        for document in documents:
            by_dataset.setdefault(str(document["dataset"]), []).append(document)
        for members in by_dataset.values():
            found = sort_out(self.sink, members)
            outcome = self._put(found.new + found.changed, "replace")
            self.tally.inserted += len(found.new) - len(outcome.rejected)
            self.tally.updated += len(found.changed)
            self.tally.unchanged += found.unchanged
            self.tally.duplicate += found.repeated

    def _put(self, documents: list[Document], mode: Mode) -> Outcome:
        outcome = self.sink.put(documents, mode)
        if outcome.kept:
            raise StoreError(f"the store took only part: {outcome.reason}; run it again")
        for document, reason in outcome.rejected:
            self._reject(str(document.get("@timestamp")), 0, b"", reason)
        return outcome

    def _reject(self, name: str, line: int, raw: bytes, reason: str) -> None:
        self.tally.rejected[reason] += 1
        self.rejects.add(name, line, raw, reason)
