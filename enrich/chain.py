"""
The chain: every document passes the same steps in the same order, wherever it comes from.

Neighbouring steps that read the same values share one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from enrich.cache import Cache
from enrich.settings import EnrichSettings
from enrich.splice import Splicer
from enrich.step import Context, Step, StepModule, Whole
from enrich.steps import BUILT_IN
from leadline.errors import FormatError, SettingsError
from leadline.formats import DATASETS, Document
from leadline.settings.plugins import plugged

Apply = Callable[[Document], None]
Values = tuple[object, ...]
Answer = tuple[dict[str, object], tuple[str, ...]]  # what to set, what to take away
Rejected = list[tuple[Document, str]]


class Group:
    """
    Steps that read the same values, answered by one cache.
    """

    def __init__(self, steps: Sequence[Step], entries: int) -> None:
        self.name = "+".join(step.name for step in steps)
        self.datasets = steps[0].datasets
        self.reads = steps[0].reads
        self.cache: Cache[Values, Answer] = Cache(self._compute, entries=entries, size=_size)
        self.asked = [0]
        self._steps = tuple(steps)

    def apply(self) -> Apply:
        """
        What the chain calls: everything it needs at hand, for it runs for each document.
        """
        known, find, asked, reads = self.cache.young, self.cache.find, self.asked, self.reads
        get_all = itemgetter(*reads) if len(reads) > 1 else _first(reads[0])

        def apply(document: Document) -> None:
            asked[0] += 1
            try:
                values = get_all(document)
            except KeyError:
                values = tuple(map(document.get, reads))
            fields, absent = known.get(values) or find(values)
            document.update(fields)
            for name in absent:
                if name in document:
                    del document[name]

        return apply

    def _compute(self, values: Values) -> Answer:
        fields: dict[str, object] = {}
        for step in self._steps:
            fields.update(step.compute(*values))
        return fields, tuple(n for step in self._steps for n in step.writes if n not in fields)


def _first(name: str) -> Callable[[Document], Values]:
    return lambda document: (document[name],)


def _size(values: Values) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


class Chain:
    def __init__(self, steps: Iterable[Step | Whole], *, entries: int = 200_000) -> None:
        self.steps = tuple(steps)
        self._parts = list(_grouped(self.steps, entries))
        applies = [
            (part, part.apply() if isinstance(part, Group) else part) for part in self._parts
        ]
        self._of_dataset: dict[str, tuple[Apply, ...]] = {
            name: tuple(apply for part, apply in applies if _concerns(part, name))
            for name in DATASETS
        }

        self.splicer = Splicer(self.steps, self.one)

    def one(self, document: Document) -> Document:
        """
        DOCUMENT (checked) enriched in place. Raises FormatError.
        """
        for apply in self._of_dataset[document["dataset"]]:  # type: ignore[index]
            apply(document)
        return document

    def many(self, documents: Iterable[Document]) -> tuple[list[Document], Rejected]:
        """
        Those that are enriched now, and those that cannot be, each with its reason.
        """
        done: list[Document] = []
        rejected: Rejected = []
        of_dataset = self._of_dataset
        for document in documents:
            try:
                for apply in of_dataset[document["dataset"]]:  # type: ignore[index]
                    apply(document)
            except FormatError as error:
                rejected.append((document, str(error)))
            else:
                done.append(document)
        return done, rejected

    def cached(self) -> Mapping[str, tuple[int, int]]:
        """
        For each cache of the chain: how often it was asked, and how often it did not know.
        """
        return {p.name: (p.asked[0], p.cache.misses) for p in self._parts if isinstance(p, Group)}


def _grouped(steps: Sequence[Step | Whole], entries: int) -> Iterable[Group | Whole]:
    def alike(step: Step | Whole) -> object:
        return (step.reads, step.datasets) if isinstance(step, Step) else id(step)

    for _, run in groupby(steps, alike):
        together = list(run)
        plain = [step for step in together if isinstance(step, Step)]
        if plain:
            yield Group(plain, entries)
        else:
            yield from (step for step in together if not isinstance(step, Step))


def _concerns(part: Group | Whole, dataset: str) -> bool:
    return not isinstance(part, Group) or part.datasets is None or dataset in part.datasets


def build_chain(context: Context, settings: EnrichSettings | None = None) -> Chain:
    settings = settings or EnrichSettings()
    steps: dict[str, StepModule] = {**BUILT_IN, **plugged("steps")}
    names = settings.steps or tuple(steps)
    for name in names:
        if name not in steps:
            raise SettingsError(f"enrich.steps: {name!r} is none of {', '.join(steps)}")
    if names[0] != "redact":
        raise SettingsError("enrich.steps: redact comes first, so that no secret is kept anywhere")
    return Chain((steps[name].build(context) for name in names), entries=settings.cache_entries)
