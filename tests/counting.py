"""
A memory store that writes down what it is asked, and can be made to wait.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from leadline.formats import Document
from leadline.store.memory import MemoryStore
from leadline.store.plan import Plan, Row
from leadline.store.scope import Scope


class CountingStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.plans: list[Plan] = []
        self.scanned: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    @property
    def count(self) -> int:
        return len(self.plans) + len(self.scanned)

    def forget_questions(self) -> None:
        self.plans.clear()
        self.scanned.clear()

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        self.plans.append(plan)
        self.gate.wait(10)
        return super().ask(plan, scope)

    def scan(self, dataset: str, scope: Scope, **how: Any) -> Iterator[list[Document]]:
        self.scanned.append(dataset)
        return super().scan(dataset, scope, **how)
