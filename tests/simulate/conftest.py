"""
One small fleet, simulated once: what is written about it is compared with its documents.
"""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from leadline.simulate import Plan, simulate

# A Saturday night: two working days and a half are inside.
END = 1_795_305_600
PLAN = Plan(seed=3, nodes=12, days=4, every=900, end=END, compress=False)


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    simulate(PLAN, folder)
    return folder


@pytest.fixture(scope="session")
def truth(fleet: Path) -> dict:
    return orjson.loads((fleet / "truth.json").read_bytes())


@pytest.fixture(scope="session")
def lines(fleet: Path) -> list[bytes]:
    return [
        line for path in sorted(fleet.glob("*.ndjson")) for line in path.read_bytes().splitlines()
    ]


@pytest.fixture(scope="session")
def documents(lines: list[bytes]) -> list[dict]:
    return [orjson.loads(line) for line in lines]
