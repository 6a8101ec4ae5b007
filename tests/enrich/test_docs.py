"""The worker's page names every step, every setting and every answer there is."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_type_hints

import pytest

from enrich.settings import EnrichSettings, WorkerSettings
from enrich.steps import BUILT_IN

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "worker.md").read_text(encoding="utf-8")


def names(kind: type, prefix: str) -> list[str]:
    found = []
    for field in fields(kind):  # type: ignore[arg-type]
        inner = get_type_hints(kind)[field.name]
        name = f"{prefix}.{field.name}"
        found += names(inner, name) if is_dataclass(inner) else [name]
    return found


@pytest.mark.parametrize("name", names(WorkerSettings, "worker") + names(EnrichSettings, "enrich"))
def test_every_setting_is_documented(name: str) -> None:
    """
    A setting that is on no page is one nobody will find.
    """
    forwarded = name.startswith("worker.forward.")
    assert (name.rpartition(".")[2] if forwarded else name) in PAGE


def test_every_step_is_documented_in_order() -> None:
    """
    The page shows the chain as it runs.
    """
    assert " → ".join(f"`{name}`" for name in BUILT_IN) in PAGE
