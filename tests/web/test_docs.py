"""The docs name every page, address, metric and setting of the web."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from enrich.metrics import METRICS as OF_WORKERS
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
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    rules = {rule for rule in rules if not rule.startswith("/static/")}
    assert len(rules) > 10
    missing = {rule for rule in rules if f"`{rule.partition('<')[0]}" not in DOCS}
    assert missing == set()


GRAFANA = (FOLDER / "grafana.md").read_text(encoding="utf-8")


def test_panels_ask_for_metrics_there_are() -> None:
    """
    What is shown to Grafana's users names metrics, and labels of them, that are served.
    """
    served = METRICS | OF_WORKERS
    asked = re.findall(r"\b(leadline_[a-z_]+)(?:\{(\w+))?", GRAFANA)
    assert len(asked) > 15
    for name, label in asked:
        assert name in served
        assert not label or label in served[name].labels


@pytest.mark.parametrize("address", re.findall(r"^\|.*\| `(/\S+)` \|$", GRAFANA, re.MULTILINE))
def test_panels_ask_questions_that_are_answered(client: FlaskClient, address: str) -> None:
    """
    Each address of the API that is shown can be asked.
    """
    answer = client.get(f"/api/v1{address}")
    assert answer.status_code == 200, answer.text
