"""
Step `ingested`: when the worker took a document, and by which rules and definitions.

Roll-ups look for what was taken in lately. A document that another worker took, a day ago and a
thousand miles away, is new here all the same: the last time counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import orjson

from enrich.step import Context
from enrich.steps.program import SAMPLED
from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.times import from_epoch


class Ingested:
    name = "ingested"

    def __init__(self, rules_version: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._second = -1
        self._stamp = b""
        self._plain: Document = {"schema.version": SCHEMA_VERSION}
        self._ruled = {**self._plain, "rules.version": rules_version}

    def __call__(self, document: Document) -> None:
        if (now := int(self._clock())) != self._second:
            self._turn(now)
        document.update(self._ruled if document["dataset"] in SAMPLED else self._plain)

    def fields(self) -> Document:
        """
        What is said of a sample now.
        """
        self._turn(int(self._clock()))
        return self._ruled

    def stamp(self) -> bytes:
        """
        The same as members of a JSON object, a comma first.
        """
        self._turn(int(self._clock()))
        return self._stamp

    def _turn(self, now: int) -> None:
        if now != self._second:
            self._plain["event.ingested"] = self._ruled["event.ingested"] = from_epoch(now)
            self._stamp = b"," + orjson.dumps(self._ruled)[1:-1]
            self._second = now


def build(context: Context) -> Ingested:
    return Ingested(context.rules.version)
