"""docs/collectors.md names everything a node can tell and everything one may set."""

from __future__ import annotations

import dataclasses
import re
import typing
from pathlib import Path

import pytest

from leadline.formats import DATASETS
from leadline.formats.common import COMMON, PROGRAM, SAMPLE
from shipper.collectors import BUILT_IN
from shipper.settings import ALL_COLLECTORS, CollectSettings

PAGE = (Path(__file__).parents[2] / "docs/collectors.md").read_text(encoding="utf-8")
# What the worker, not a node, puts into a sample.
ENRICHED = {field.name for field in (*COMMON, *PROGRAM, *SAMPLE)} | {
    *("user.group", "user.metagroup", "job.id", "job.run", "project", "partition"),
}
SENT = (
    *("process", "process_gpu", "node", "job_cgroup", "filesystem", "network", "disk", "sensor"),
    "gpu",
)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_collector_has_its_section(name: str) -> None:
    """
    And its line in the table of costs, as bench/collectors.py measures them.
    """
    assert f"\n## {name}\n" in PAGE
    assert f"| `{name}`" in PAGE.partition("## What it costs")[2].partition("\n## ")[0]


@pytest.mark.parametrize("dataset", SENT)
def test_every_field_is_named(dataset: str) -> None:
    """
    A field that a node sends is on the page, by the name it has in the document.
    """
    fields = {field.name for field in DATASETS[dataset].fields} - ENRICHED
    assert set() == {name for name in fields if f"`{name}`" not in PAGE}


def test_every_setting_is_named() -> None:
    """
    With its default, as a line of the sample settings.
    """
    missing = [
        name for name in settings(CollectSettings) if not re.search(rf"^ +{name}:", PAGE, re.M)
    ]
    assert missing == []


def test_the_table_and_the_settings_agree() -> None:
    """
    What may be chosen in `collect.collectors` is what there is.
    """
    assert set(ALL_COLLECTORS) == set(BUILT_IN)


def settings(kind: type) -> list[str]:
    hints = typing.get_type_hints(kind)
    found = []
    for field in dataclasses.fields(kind):
        found.append(field.name)
        if dataclasses.is_dataclass(hints[field.name]):
            found += settings(hints[field.name])
    return found
