"""
docs/lake.md says what is on disk.
"""

from __future__ import annotations

import re
from pathlib import Path

from leadline.formats import DATASETS, Type
from leadline.store.lake.schema import PARTITION, SQL_TYPES, delta_schema

PAGE = (Path(__file__).parents[3] / "docs" / "lake.md").read_text()


def test_every_table_is_named_with_its_meaning() -> None:
    """
    The page lists the datasets, all of them, in their own words.
    """
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.M))

    assert rows == {dataset.name: dataset.meaning for dataset in DATASETS.values()}


def test_every_type_is_named_with_its_column() -> None:
    """
    The page's table of types is the one the tables are made from.
    """
    named = {}
    for types, column in re.findall(r"^\| ([a-z, ]+) \| .+ \| `([^`]+)` \|$", PAGE, re.M):
        named.update(dict.fromkeys(types.split(", "), column))

    assert named == {kind.value: SQL_TYPES[kind] for kind in Type}


def test_columns_are_the_fields_and_the_partition() -> None:
    """
    Names are the fields' own, in their order, then the partition.
    """
    for dataset in DATASETS.values():
        columns = [field.name for field in delta_schema(dataset).fields]
        assert columns == [*(field.name for field in dataset.fields), PARTITION]
