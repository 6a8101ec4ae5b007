"""The definitions hold together: names, keys and what is generated from them."""

from __future__ import annotations

import pytest

from leadline.formats import DATASETS, Dataset, Field
from leadline.formats.generate import stale

ALL = [pytest.param(dataset, id=name) for name, dataset in DATASETS.items()]


@pytest.mark.parametrize("dataset", ALL)
def test_key_is_made_of_fields(dataset: Dataset) -> None:
    """
    What makes a document the same document is among its fields.
    """
    assert set(dataset.key) <= {field.name for field in dataset.fields}


@pytest.mark.parametrize("dataset", ALL)
def test_field_is_defined_once(dataset: Dataset) -> None:
    """
    A dataset names a field once.
    """
    names = [field.name for field in dataset.fields]
    assert sorted(set(names)) == sorted(names)


def test_no_field_is_the_folder_of_another() -> None:
    """
    An index cannot hold both `state` and `state.flags`: one is a value, the other an object.
    """
    names = {field.name for dataset in DATASETS.values() for field in dataset.fields}
    clashes = {n for n in names if any(other.startswith(f"{n}.") for other in names)}
    assert set() == clashes


def test_field_has_one_type_everywhere() -> None:
    """
    A field that several datasets share has the same type and unit in each.
    """
    seen: dict[str, Field] = {}
    for dataset in DATASETS.values():
        for field in dataset.fields:
            first = seen.setdefault(field.name, field)
            assert (first.type, first.unit) == (field.type, field.unit), field.name


def test_generated_files_are_up_to_date() -> None:
    """
    `python -m leadline.formats.generate` would change nothing.
    """
    assert stale() == []
