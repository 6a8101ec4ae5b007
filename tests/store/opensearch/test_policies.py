"""
Lifecycle policies: made from the table of retention, and valid by the engines' own rules.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from leadline.formats.templates import families
from leadline.settings import Duration
from leadline.settings.common import RetentionSettings
from leadline.store.opensearch.policies import ilm_policies, ism_policies, policy_files

ROOT = Path(__file__).resolve().parents[3]
DEFAULTS = RetentionSettings()


def test_shipped_policies_are_those_of_the_default_retention() -> None:
    """
    index_templates/ holds what `python -m leadline.store.opensearch.policies` would write.
    """
    files = policy_files()
    there = {f"index_templates/{p.name}" for p in (ROOT / "index_templates").glob("i[sl]m-*.json")}
    assert there == set(files)
    for name, text in files.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("name", "policy"), ism_policies(DEFAULTS).items())
def test_ism_policies_keep_to_the_rules(name: str, policy: dict[str, Any]) -> None:
    """
    Known states, one condition for each transition, one action each, ages in days.
    """
    body = policy["policy"]
    states = {state["name"]: state for state in body["states"]}
    assert body["default_state"] in states
    for state in states.values():
        assert all(len(action) == 1 for action in state["actions"])
        for transition in state["transitions"]:
            assert transition["state_name"] in states
            ((condition, age),) = transition["conditions"].items()
            assert condition == "min_index_age"
            assert re.fullmatch(r"[1-9]\d*d", age)


@pytest.mark.parametrize(("name", "policy"), ilm_policies(DEFAULTS).items())
def test_ilm_policies_keep_to_the_rules(name: str, policy: dict[str, Any]) -> None:
    """
    Known phases with known actions.
    """
    phases = policy["policy"]["phases"]
    assert set(phases) <= {"hot", "warm", "delete"}
    assert phases["warm"]["actions"] == {"forcemerge": {"max_num_segments": 1}}
    if "delete" in phases:
        assert phases["delete"]["actions"] == {"delete": {}}


def test_raw_samples_are_never_deleted_by_age_alone() -> None:
    """
    Only the sealed policy deletes raw months; what is kept for ever has no delete at all.
    """
    deleting = {
        name.removeprefix("leadline-")
        for name, policy in ilm_policies(DEFAULTS).items()
        if "delete" in policy["policy"]["phases"]  # type: ignore[index]
    }
    assert deleting == {
        "process-sealed",
        "node-sealed",
        "gpu-sealed",
        "state",
        "event",
        "usage",
        "capacity",
    }


def test_every_family_has_one_policy_that_attaches_itself() -> None:
    """
    New indices find their policy by name, each exactly one.
    """
    patterns = [
        pattern
        for policy in ism_policies(DEFAULTS).values()
        for template in policy["policy"].get("ism_template", [])  # type: ignore[attr-defined]
        for pattern in template["index_patterns"]
    ]
    assert sorted(patterns) == sorted(f"leadline-{family}-*" for family in families())


def test_the_table_of_the_settings_is_what_counts() -> None:
    """
    Usage kept for ever has no delete phase; events kept 30 days have one of 30 days.
    """
    retention = RetentionSettings(usage=Duration(0), event=Duration(30 * 86400))
    policies: Any = ilm_policies(retention)
    assert "delete" not in policies["leadline-usage"]["policy"]["phases"]
    assert policies["leadline-event"]["policy"]["phases"]["delete"]["min_age"] == "30d"
