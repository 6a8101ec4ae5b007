"""
Names that are old enough become pseudonyms, month by month, in every dataset that holds any.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from leadline.formats import DATASETS
from leadline.formats.pseudonyms import is_pseudonym
from leadline.query.rollups import month_of
from leadline.store.contract import Store
from leadline.store.people import NUMBER, OWNER, People, naming
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

COUNT = Aggregate("n", Function.COUNT)
NOBODY = frozenset({"root"})  # no person

Alias = Callable[[str], str]


def hide_names(
    store: Store, age: float, alias: Alias, now: datetime, *, dry_run: bool = False
) -> dict[str, int]:
    """
    Dataset → documents that lost (or would lose) a name. Whole months that ended AGE seconds ago;
    the roll-ups of hours are among them.
    """
    before = month_of(now - timedelta(seconds=age))
    changed = {}
    for dataset in DATASETS:
        people = known_people(store, dataset, alias, before)
        if people.aliases:
            changed[dataset] = store.forget(dataset, people, before=before, dry_run=dry_run)
    return changed


def known_people(store: Store, dataset: str, alias: Alias, before: datetime | None) -> People:
    """
    Everyone the dataset names, with the pseudonyms of names and numbers.
    """
    names: dict[str, str | None] = {}
    for field in naming(dataset):
        for value in _values(store, dataset, field, before, ()):
            if value not in NOBODY and not is_pseudonym(value):
                names[value] = alias(value)
    return People(names, numbers(store, dataset, tuple(names), alias, before))


def numbers(
    store: Store,
    dataset: str,
    names: tuple[str, ...],
    alias: Alias,
    before: datetime | None = None,
) -> dict[str, str]:
    """
    The numeric ids NAMES go by in a dataset, with their pseudonyms.
    """
    if NUMBER not in DATASETS[dataset].by_name or not names:
        return {}
    owned = (Condition(OWNER, Op.IN, names),)
    return {value: alias(value) for value in _values(store, dataset, NUMBER, before, owned)}


def _values(
    store: Store,
    dataset: str,
    field: str,
    before: datetime | None,
    where: tuple[Condition, ...],
) -> list[str]:
    plan = Plan(dataset, (COUNT,), (Group(field),), where, end=before)
    rows = store.ask(plan, EVERYTHING)
    return sorted(str(row[field]) for row in rows if row[field] is not None)
