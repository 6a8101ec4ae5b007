"""
Index templates: complete, without contradictions, and lean.
"""

from __future__ import annotations

from typing import Any

import pytest

from leadline.formats import DATASETS, Type
from leadline.formats.templates import (
    component_templates,
    families,
    field_mapping,
    index_templates,
    properties,
)
from leadline.store import words


@pytest.mark.parametrize("family", families())
def test_one_name_has_one_type_in_a_family(family: str) -> None:
    """
    Datasets that share an index agree on every field they share.
    """
    kinds: dict[str, set[str]] = {}
    for dataset in families()[family]:
        for field in dataset.fields:
            kinds.setdefault(field.name, set()).add(str(field_mapping(field)))
    assert {name for name, found in kinds.items() if len(found) > 1} == set()


@pytest.mark.parametrize("family", families())
def test_no_field_is_also_a_folder_of_fields(family: str) -> None:
    """
    `a` and `a.b` cannot both be fields: the engine would refuse one of them.
    """
    names = {field.name for dataset in families()[family] for field in dataset.fields}
    parents = {name.rsplit(".", n)[0] for name in names for n in range(1, name.count(".") + 1)}
    assert names & parents == set()


def test_every_dataset_is_in_exactly_one_index_template() -> None:
    """
    And each template is made of parts that exist.
    """
    parts = component_templates()
    used = [name for body in index_templates().values() for name in body["composed_of"]]  # type: ignore[attr-defined]
    assert set(used) == set(parts)
    assert all(used.count(f"leadline-{name}") == 1 for name in DATASETS)


def test_indices_are_sorted_by_mapped_fields() -> None:
    """
    An index sort on a field without values by column would refuse every index.
    """
    for family, datasets in families().items():
        body: Any = index_templates()[f"leadline-{family}"]
        fields = datasets[0].by_name
        for name in body["template"]["settings"]["index"]["sort"]["field"]:
            assert fields[name].type in (Type.KEYWORD, Type.DATE)


def test_dotted_names_nest() -> None:
    """
    The engines give mappings back nested; ours are written so.
    """
    pid = DATASETS["process"].by_name["process.pid"]
    assert properties([pid]) == {
        "process": {"properties": {"pid": {"type": "long", "index": False}}}
    }


def test_unknown_names_cannot_exhaust_the_mapping() -> None:
    """
    Nothing is mapped by itself; invented names lie in one flat field.
    """
    body: Any = component_templates()["leadline-common"]["template"]
    assert body["mappings"]["dynamic"] is False
    assert body["mappings"]["properties"]["labels"] == {"type": "flat_object"}


def test_the_analyzer_is_made_of_the_rule_for_words() -> None:
    """
    One list of separators, whoever cuts.
    """
    from leadline.formats import templates

    assert (templates.SEPARATORS, templates.STRIPPED) == (words.SEPARATORS, words.STRIPPED)
