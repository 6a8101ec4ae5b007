"""
What a condition's value means beside a field: text that cannot be of the field's type equals none.
"""

from __future__ import annotations

import math
from datetime import date

from leadline.errors import FormatError
from leadline.formats import Field, Type
from leadline.formats.field import NUMBERS
from leadline.formats.times import canonical_time
from leadline.store.plan import Scalar


def typed(field: Field, value: Scalar) -> Scalar | None:
    """
    VALUE as the field keeps it (instants and days in their one written form), or None.
    """
    if field.type in NUMBERS:
        return _number(value)
    if field.type is Type.BOOLEAN:
        return {"true": True, "false": False}.get(str(value).lower())
    if field.type is Type.DATE:
        return _instant(str(value))
    if field.type is Type.DAY:
        return _day(str(value))
    return str(value)


def typed_all(field: Field, values: tuple[Scalar, ...]) -> list[Scalar]:
    return [known for value in values if (known := typed(field, value)) is not None]


def flat_path(name: str, fields: dict[str, Field]) -> tuple[Field, str] | None:
    """
    The FLAT field that NAME points into, and where: labels.colour → (labels, colour).
    """
    head, _, rest = name.partition(".")
    field = fields.get(head)
    return (field, rest) if rest and field is not None and field.type is Type.FLAT else None


def _number(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    try:
        number = float(value)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(value) if value.strip().lstrip("+-").isdigit() else number


def _instant(text: str) -> str | None:
    try:
        return canonical_time(text)
    except FormatError:
        return None


def _day(text: str) -> str | None:
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return None
