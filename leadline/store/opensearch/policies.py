"""
Lifecycle policies from the one table of retention: ISM for OpenSearch, ILM for Elasticsearch.

Both count from the end of an index's period. Raw samples only merge on their own: they are deleted
by the second, `sealed` policy, which `leadline retain` attaches once a month's summaries are made.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from leadline.formats.templates import META, PREFIX, PRIORITY, Body, families, pretty
from leadline.settings.common import RetentionSettings

RAW = ("process", "node", "gpu")  # what roll-ups are made from
MERGE_AFTER = "2d"  # late documents have mostly come by then
ROOT = Path(__file__).resolve().parents[3]


def days(seconds: float) -> str:
    return f"{max(1, round(seconds / 86400))}d"


def table(retention: RetentionSettings) -> dict[str, str | None]:
    """
    Policy → age at which it deletes; None: never.
    """
    ages: dict[str, float] = asdict(retention)
    policies: dict[str, str | None] = {}
    for family in families():
        age = days(ages[family]) if ages[family] else None
        policies[family] = None if family in RAW else age
        if family in RAW and age is not None:
            policies[f"{family}-sealed"] = age
    return policies


def ism_policies(retention: RetentionSettings, prefix: str = PREFIX) -> dict[str, Body]:
    return {
        f"{prefix}-{name}": {"policy": ism(name, age, prefix)}
        for name, age in table(retention).items()
    }


def ism(name: str, age: str | None, prefix: str) -> Body:
    merged: Body = {
        "name": "merged",
        "actions": [{"force_merge": {"max_num_segments": 1}}],
        "transitions": [],
    }
    states = [
        {"name": "open", "actions": [], "transitions": [then("merged", MERGE_AFTER)]},
        merged,
    ]
    if age is not None:
        merged["transitions"] = [then("gone", age)]
        states.append({"name": "gone", "actions": [{"delete": {}}], "transitions": []})
    policy: Body = {
        "description": f"leadline: {name} is {f'deleted after {age}' if age else 'kept'}",
        "default_state": "open",
        "states": states,
    }
    if not name.endswith("-sealed"):
        patterns = [f"{prefix}-{name}-*"]
        policy["ism_template"] = [{"index_patterns": patterns, "priority": PRIORITY}]
    return policy


def then(state: str, age: str) -> Body:
    return {"state_name": state, "conditions": {"min_index_age": age}}


def ilm_policies(retention: RetentionSettings, prefix: str = PREFIX) -> dict[str, Body]:
    made: dict[str, Body] = {}
    for name, age in table(retention).items():
        phases: Body = {
            "hot": {"actions": {}},
            "warm": {
                "min_age": MERGE_AFTER,
                "actions": {"forcemerge": {"max_num_segments": 1}},
            },
        }
        if age is not None:
            phases["delete"] = {"min_age": age, "actions": {"delete": {}}}
        made[f"{prefix}-{name}"] = {"policy": {"phases": phases, "_meta": META}}
    return made


def policy_files() -> dict[str, str]:
    """
    The policies of the default retention, as shipped below index_templates/.
    """
    files = {}
    for kind, bodies in (
        ("ism", ism_policies(RetentionSettings())),
        ("ilm", ilm_policies(RetentionSettings())),
    ):
        for name, body in bodies.items():
            files[f"index_templates/{kind}-{name.removeprefix(PREFIX + '-')}.json"] = pretty(body)
    return files


def main() -> int:
    for name, text in policy_files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
