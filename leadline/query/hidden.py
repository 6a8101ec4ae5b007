"""
What no shown row holds, in words every store knows: others of what does not join are asked anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from leadline.query.dimensions import Dimension
from leadline.query.kinds import Kinds, on_kind
from leadline.query.parts import Key
from leadline.store.plan import Condition, Op, Scalar

Conditions = tuple[Condition, ...]


def place_of_hours(dims: Sequence[Dimension], dataset: str) -> int | None:
    """
    Which of DIMS tells a document's own hours apart: it is in many rows, with a part in each.
    """
    places = [n for n, d in enumerate(dims) if not d.by_node_in(dataset) and d.parts_in(dataset)]
    return places[0] if places else None


def by_hour(shown: Sequence[Key], place: int) -> dict[Scalar | None, tuple[Key, ...]]:
    """
    What else is in the keys of the SHOWN rows of each hour.
    """
    found: dict[Scalar | None, tuple[Key, ...]] = {}
    for key in shown:
        rest = (*key[:place], *key[place + 1 :])
        found[key[place]] = (*found.get(key[place], ()), rest)
    return found


def left_out(
    dims: Sequence[Dimension], dataset: str, shown: Sequence[Key], kinds: Kinds
) -> tuple[Conditions, ...]:
    """
    Documents of the SHOWN rows: those that match all of one set of conditions.
    """
    values: dict[Conditions, list[Scalar]] = {}
    found: dict[Conditions, None] = {}
    for key in shown:
        ways = [_of(d, dataset, value, kinds) for d, value in zip(dims, key, strict=True)]
        for several in product(*ways):
            conditions = tuple(condition for each in several for condition in each)
            last = conditions[-1]
            if last.op is Op.IN and len(last.values) == 1:
                head = (*conditions[:-1], Condition(last.field, Op.IN))
                values.setdefault(head, []).append(last.values[0])
            else:
                found[conditions] = None
    merged = [
        (*head[:-1], Condition(head[-1].field, Op.IN, tuple(many))) for head, many in values.items()
    ]
    return (*merged, *found)


def _of(known: Dimension, dataset: str, value: Scalar | None, kinds: Kinds) -> list[Conditions]:
    """
    The conditions of one row's value, any of them.
    """
    if known.by_node_in(dataset):
        return [(on_kind(dataset, kinds, None if value is None else str(value)),)]
    field = known.field_in(dataset)
    assert field is not None
    if known.edges:
        return list(_of_class(field, known.edges, value))
    if value is None:
        return [(Condition(field, Op.MISSING),)]
    return [(Condition(field, Op.IN, (value,)),)]


def _of_class(field: str, edges: Sequence[float], value: Scalar | None) -> Iterator[Conditions]:
    if value is None:
        yield (Condition(field, Op.MISSING),)
        yield (Condition(field, Op.BELOW, (edges[0],)),)
        return
    place = edges.index(float(value))
    above = [Condition(field, Op.BELOW, (edge,)) for edge in edges[place + 1 : place + 2]]
    yield (Condition(field, Op.AT_LEAST, (edges[place],)), *above)
