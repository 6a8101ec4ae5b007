"""
The lake's columns: named exactly like the fields, typed from leadline.formats.

Sets are lists of text, instants are UTC timestamps, FLAT fields are JSON in a text column. One
column is not a field: `month`, the partition, YYYY-MM of @timestamp.
"""

from __future__ import annotations

from functools import cache

from deltalake import Field as DeltaField
from deltalake import Schema
from deltalake.schema import ArrayType, PrimitiveType

from leadline.formats import DATASETS, Dataset, Field, Type

PARTITION = "month"

SQL_TYPES: dict[Type, str] = {
    Type.KEYWORD: "VARCHAR",
    Type.COMMAND: "VARCHAR",
    Type.PATH: "VARCHAR",
    Type.SET: "VARCHAR[]",
    Type.LONG: "BIGINT",
    Type.DOUBLE: "DOUBLE",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "TIMESTAMPTZ",
    Type.DAY: "DATE",
    Type.FLAT: "VARCHAR",
}

DELTA_TYPES: dict[Type, PrimitiveType | ArrayType] = {
    Type.KEYWORD: PrimitiveType("string"),
    Type.COMMAND: PrimitiveType("string"),
    Type.PATH: PrimitiveType("string"),
    Type.SET: ArrayType(PrimitiveType("string"), contains_null=True),
    Type.LONG: PrimitiveType("long"),
    Type.DOUBLE: PrimitiveType("double"),
    Type.BOOLEAN: PrimitiveType("boolean"),
    Type.DATE: PrimitiveType("timestamp"),
    Type.DAY: PrimitiveType("date"),
    Type.FLAT: PrimitiveType("string"),
}


@cache
def fields_of(dataset: str) -> dict[str, Field]:
    return DATASETS[dataset].by_name


def delta_schema(dataset: Dataset) -> Schema:
    return Schema([*(delta_field(field) for field in dataset.fields), _partition()])


def delta_field(field: Field) -> DeltaField:
    return DeltaField(field.name, DELTA_TYPES[field.type], nullable=True)


def quote(name: str) -> str:
    """
    A column name in SQL: dots and @ are part of it.
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def json_rows(dataset: str, path: str) -> str:
    """
    A FROM clause over a file of NDJSON documents, typed like the table.
    """
    fields = DATASETS[dataset].fields
    flat = [field for field in fields if field.type is Type.FLAT]
    columns = ", ".join(
        f"{literal(f.name)}: {literal('JSON' if f in flat else SQL_TYPES[f.type])}" for f in fields
    )
    texts = ", ".join(f"{quote(f.name)}::VARCHAR AS {quote(f.name)}" for f in flat)
    return (
        f"(SELECT * REPLACE ({texts}) FROM read_json({literal(path)},"
        f" format = 'newline_delimited', columns = {{{columns}}}))"
    )


@cache
def empty_rows(dataset: str) -> str:
    """
    A FROM clause with the dataset's columns and no row: a table nobody has written to yet.
    """
    columns = (f"NULL::{SQL_TYPES[f.type]} AS {quote(f.name)}" for f in DATASETS[dataset].fields)
    return f"(SELECT {', '.join(columns)}, NULL::VARCHAR AS {PARTITION} WHERE false)"


def _partition() -> DeltaField:
    return DeltaField(PARTITION, PrimitiveType("string"), nullable=True)
