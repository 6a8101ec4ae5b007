"""
Every place of this machine's settings that may name a person, and how each forgets one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from enrich.deadletters import DeadLetter, DeadLetters
from leadline.alerts.forget import forget as forget_alerts
from leadline.alerts.ledger import Ledger
from leadline.chores.names import numbers
from leadline.commands.context import Context
from leadline.formats import DATASETS
from leadline.spool.rewrite import rewrite
from leadline.spool.segments import replace_durably
from leadline.store.people import OWNER, People, pattern
from shipper.senders.settings import ShipSettings

Alias = Callable[[str], str]
GROUPS = ("store", "spool", "deadletters", "alerts")


@dataclass(frozen=True, slots=True)
class Told:
    """
    What a place holds of her: documents, letters, messages.
    """

    place: str
    count: int
    left: str = ""  # why it could not be changed now


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    alias: Alias | None  # None: everything of hers is deleted

    def people(self, ids: Mapping[str, str] | None = None) -> People:
        return People({self.name: self.alias(self.name) if self.alias else None}, ids or {})

    def line(self, line: bytes) -> bytes | None:
        """
        A line of a spool as it may be kept; the very same where it says nothing of her.
        """
        try:
            document = json.loads(line)
        except ValueError:
            return self._text(line)
        if not isinstance(document, dict) or not isinstance(document.get(OWNER), str | None):
            return self._text(line)
        number = document.get("user.id")
        ids = {str(number): self.alias(str(number))} if self.alias and number is not None else {}
        kept = self.people(ids).changed(document)
        if kept is document:
            return line
        return None if kept is None else json.dumps(kept, ensure_ascii=False).encode()

    def _text(self, line: bytes) -> bytes | None:
        text = line.decode(errors="surrogateescape")
        word = re.compile(pattern(self.name), re.ASCII)
        if not word.search(text):
            return line
        if self.alias is None:
            return None
        return word.sub(self.alias(self.name), text).encode(errors="surrogateescape")


def places(
    context: Context, person: Person, wanted: tuple[str, ...], *, dry_run: bool
) -> Iterator[Told]:
    """
    Place after place, the store last: what a spool still holds would come into it again.
    """
    known = {
        "spool": _spools,
        "deadletters": _letters,
        "alerts": _alerts,
        "store": _store,
    }
    for name, act in known.items():
        if not wanted or name in wanted:
            yield from act(context, person, dry_run)


def _spools(context: Context, person: Person, dry_run: bool) -> Iterator[Told]:
    ship = context.settings.get("ship", ShipSettings)
    folders = {
        "the shipper's spool": ship.queue.disk.path or context.paths.spool / "shipper",
        "the worker's spool": context.paths.data / "worker" / "spool",
    }
    for name, folder in folders.items():
        done = rewrite(folder, person.line, dry_run=dry_run)
        why = "a process writes here; what waits is delivered soon, then run this again"
        yield Told(f"{name}", done.lines, why if done.left else "")


def _letters(context: Context, person: Person, dry_run: bool) -> Iterator[Told]:
    def change(letter: DeadLetter) -> DeadLetter | None:
        kept = person.line(letter.input.encode(errors="surrogateescape"))
        if kept is None:
            return None
        text = kept.decode(errors="surrogateescape")
        reason = letter.reason if text == letter.input else "changed to forget a person"
        return letter if text == letter.input else replace(letter, input=text, reason=reason)

    count = DeadLetters(context.paths.dead_letters).rewrite(change, dry_run=dry_run)
    yield Told("dead letters", count)
    refused = context.paths.state / "shipper" / "refused.ndjson"
    found = sum(_refused(path, person, dry_run) for path in (refused, Path(f"{refused}.1")))
    yield Told("what workers refused of this shipper", found)


def _refused(path: Path, person: Person, dry_run: bool) -> int:
    if not path.exists():
        return 0
    kept, count = [], 0
    for line in path.read_bytes().splitlines():
        record: dict[str, Any] = json.loads(line)
        before = str(record["document"]).encode()
        after = person.line(before)
        count += after is not before
        if after is not None:
            text = {**record, "document": after.decode(errors="replace")}
            kept.append(json.dumps(text, ensure_ascii=False).encode() + b"\n")
    if count and not dry_run:
        replace_durably(path, b"".join(kept))
    return count


def _alerts(context: Context, person: Person, dry_run: bool) -> Iterator[Told]:
    folder = context.paths.state / "alerts"
    if not (folder / "alerts.db").exists():
        yield Told("alerts and their messages", 0)
        return
    ledger = Ledger(folder)
    try:
        alias = person.alias(person.name) if person.alias else None
        count = forget_alerts(ledger, person.name, alias, dry_run=dry_run)
    finally:
        ledger.close()
    yield Told("alerts and their messages", count)


def _store(context: Context, person: Person, dry_run: bool) -> Iterator[Told]:
    store = context.own_store
    for dataset in DATASETS:
        ids = numbers(store, dataset, (person.name,), person.alias) if person.alias else {}
        count = store.forget(dataset, person.people(ids), dry_run=dry_run)
        if count:
            yield Told(f"store: {dataset}", count)
