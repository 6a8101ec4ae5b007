"""What the tests of the worker share: small documents, a chain with shipped rules, naive stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest

from enrich.chain import Chain, build_chain
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery
from enrich.rules import Rules, read_rules
from enrich.settings import BackoffSettings
from enrich.splice import MOMENT
from enrich.step import Context
from leadline.formats import Document
from leadline.settings import Duration
from leadline.settings.common import ClusterSettings
from leadline.store.contract import Mode, Outcome
from leadline.store.memory import MemoryStore

TIME = "2026-03-29T00:30:00.000Z"


def make_sample(number: int = 0, **more: object) -> Document:
    return {
        "@timestamp": TIME,
        "dataset": "process",
        "cluster": "fox",
        "host.name": "c1-1",
        "boot.id": "b00t",
        "sample.uptime": 1000,
        "process.entity_id": f"{number}-1",
        "process.name": "python3",
        "process.command_line": "python3 train.py",
        "user.name": "alice",
        "core_seconds": 1.5,
        **more,
    }


def make_line(number: int = 0, **more: object) -> bytes:
    return orjson.dumps(make_sample(number, **more))


def make_shipped(number: int = 0, **more: object) -> bytes:
    """
    A sample in the order shippers write: who, what was measured, the moment.
    """
    sample = make_sample(number, **more)
    moment = {name: sample.pop(name) for name in tuple(sample) if name in MOMENT}
    measured = {"process.state": "R", "core_seconds": sample.pop("core_seconds")}
    return orjson.dumps({**sample, **measured, **moment})


class ScriptedStore(MemoryStore):
    """
    Does what its script says, one line a write, and then what a store does.
    """

    def __init__(self, *script: Callable[[Sequence[Document]], Outcome] | Exception) -> None:
        super().__init__()
        self.script = list(script)
        self.sizes: list[int] = []

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        self.sizes.append(len(documents))
        if not self.script:
            return super().write(documents, mode)
        act = self.script.pop(0)
        if isinstance(act, Exception):
            raise act
        return act(documents)

    @property
    def count(self) -> int:
        return sum(len(table) for table in self.tables.values())


class FakeWait:
    """
    Waits for nothing and remembers how long it should have.
    """

    def __init__(self, stop_after: int = 1000) -> None:
        self.waited: list[float] = []
        self._stop_after = stop_after

    def __call__(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return len(self.waited) >= self._stop_after


@pytest.fixture(scope="session")
def rules() -> Rules:
    return read_rules()


@pytest.fixture
def context(rules: Rules) -> Context:
    clusters = {
        "fox": ClusterSettings(zone="Europe/Oslo", aliases=("old_fox", "fox-2")),
        "owl": ClusterSettings(zone="UTC"),
    }
    return Context(rules=rules, clusters=clusters)


@pytest.fixture
def chain(context: Context) -> Chain:
    return build_chain(context)


@pytest.fixture
def letters(tmp_path: Path) -> DeadLetters:
    return DeadLetters(tmp_path / "deadletters")


@pytest.fixture
def deliver(chain: Chain, letters: DeadLetters) -> Callable[..., Delivery]:
    def make(
        store: MemoryStore, wait: FakeWait | None = None, tries: int | None = None
    ) -> Delivery:
        return Delivery(
            store=store,
            chain=chain,
            letters=letters,
            backoff=BackoffSettings(init=Duration(1), max=Duration(8)),
            wait=wait or FakeWait(),
            notice=lambda text: None,
            tries=tries,
        )

    return make
