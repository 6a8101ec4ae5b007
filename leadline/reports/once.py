"""
A store that is asked the same only once: detectors look at the same hours from many sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.plan import Plan, Row
from leadline.store.scope import Scope


class Once:
    """
    For one round of questions: what it was told it tells again, whatever came in meanwhile.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[tuple[Plan, Scope], list[Row]] = {}
        self._batches: dict[object, list[list[Document]]] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        key = (plan, scope)
        if key not in self._rows:
            self._rows[key] = self._store.ask(plan, scope)
        return self._rows[key]

    def scan(self, dataset: str, scope: Scope, **how: Any) -> Iterator[list[Document]]:
        key = (dataset, scope, *((name, _fixed(value)) for name, value in sorted(how.items())))
        if key not in self._batches:
            self._batches[key] = list(self._store.scan(dataset, scope, **how))
        return iter(self._batches[key])


def _fixed(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def once(store: Store) -> Store:
    return cast(Store, Once(store))
