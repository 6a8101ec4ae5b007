"""
Step `redact`: secrets leave every text of every document, first of all.

Texts that were looked at before are known by a set, so a document costs one comparison in C.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from enrich.step import Context
from leadline.formats import DATASETS, Document, Type
from leadline.formats.field import STRINGS
from leadline.formats.redact import redact, redact_value

NEVER_A_SECRET = {Type.LONG, Type.DOUBLE, Type.BOOLEAN, Type.DATE, Type.DAY}
# Made by the shipper from numbers, and part of the key: another text is another process.
IDS = frozenset({"process.entity_id"})
TEXTS_KEPT = 500_000
SHAPES_KEPT = 4096

Texts = Callable[[Document], tuple[str, ...]]


class Redact:
    name = "redact"

    def __init__(self) -> None:
        self._clean: set[str] = set()
        self._shapes: dict[tuple[str, ...], tuple[Texts, tuple[str, ...]]] = {}

    def __call__(self, document: Document) -> None:
        shape = self._shapes.get((*document, document["dataset"]))  # type: ignore[arg-type]
        texts, others = shape or self._shape(document)
        if not self._clean.issuperset(texts(document)):
            self._look(document)
        for name in others:
            document[name] = redact_value(document[name])

    def _shape(self, document: Document) -> tuple[Texts, tuple[str, ...]]:
        """
        Which fields of such a document are texts, and which hold texts deeper down.
        """
        fields = DATASETS[str(document["dataset"])].by_name
        names = [n for n in document if n in fields and fields[n].type in STRINGS and n not in IDS]
        known = {*names, *IDS, *(n for n, field in fields.items() if field.type in NEVER_A_SECRET)}
        others = tuple(n for n in document if n not in known)
        texts = itemgetter(*names, "dataset")  # two at least, so that it answers a tuple
        if len(self._shapes) >= SHAPES_KEPT:
            self._shapes.clear()
        found = self._shapes[(*document, str(document["dataset"]))] = (texts, others)
        return found

    def _look(self, document: Document) -> None:
        if len(self._clean) > TEXTS_KEPT:
            self._clean.clear()
        for name, value in document.items():
            if isinstance(value, str) and value not in self._clean and name not in IDS:
                redacted = redact(value)
                document[name] = redacted
                self._clean.add(redacted)


def build(context: Context) -> Redact:
    return Redact()
