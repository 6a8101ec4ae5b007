"""
Rows of a table as documents: absent fields left out, objects as objects, times as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import orjson

from leadline.formats import Document, Type
from leadline.store.lake.schema import fields_of, quote
from leadline.store.lake.sql import text_of


def shown(dataset: str, names: Sequence[str]) -> str:
    """
    The SELECT list that `as_document` understands.
    """
    known = fields_of(dataset)
    return ", ".join(text_of(quote(name), known[name]) for name in names) or "NULL"


def flat_places(dataset: str, names: Sequence[str]) -> list[int]:
    known = fields_of(dataset)
    return [place for place, name in enumerate(names) if known[name].type is Type.FLAT]


def as_document(names: Sequence[str], flat: list[int], row: tuple[Any, ...]) -> Document:
    if flat:
        values = list(row)
        for place in flat:
            if values[place] is not None:
                values[place] = orjson.loads(values[place])
        row = tuple(values)
    return {name: value for name, value in zip(names, row, strict=True) if value is not None}


def documents(
    con: duckdb.DuckDBPyConnection, dataset: str, select: str, size: int
) -> Iterator[list[Document]]:
    """
    The rows of SELECT, whose columns are some of the dataset's, as documents.
    """
    names = [column[0] for column in con.execute(f"SELECT * FROM ({select}) LIMIT 0").description]
    flat = flat_places(dataset, names)
    cursor = con.execute(f"SELECT {shown(dataset, names)} FROM ({select})")
    while rows := cursor.fetchmany(size):
        yield [as_document(names, flat, row) for row in rows]
