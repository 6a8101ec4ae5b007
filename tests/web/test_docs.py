"""The docs name every page, address, metric and setting of the web."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from flask import Flask

from leadline.web.pages.metrics import METRICS
from leadline.web.settings import WebSettings

FOLDER = Path(__file__).parents[2] / "docs"
DOCS = "".join(
    (FOLDER / name).read_text(encoding="utf-8")
    for name in ("web.md", "reference/api.md", "reference/metrics.md")
)


@pytest.mark.parametrize("name", [field.name for field in fields(WebSettings)])
def test_settings_are_documented(name: str) -> None:
    """
    Each setting of the section `web` has its row.
    """
    assert f"| `{name}` |" in DOCS


@pytest.mark.parametrize("name", METRICS)
def test_metrics_are_documented(name: str) -> None:
    """
    Each metric has its row.
    """
    assert f"| `{name}` |" in DOCS


def test_addresses_are_documented(app: Flask) -> None:
    """
    Each address a page lives at is named.
    """
    rules = {rule.rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"}
    assert len(rules) > 10
    missing = {rule for rule in rules if f"`{rule.partition('<')[0]}" not in DOCS}
    assert missing == set()
