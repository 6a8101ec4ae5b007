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


def apart(dims: Sequence[Dimension], dataset: str) -> list[int]:
    """
    Which of DIMS no condition can name: a document's own hours, of which each row has a part, and
    what is only known of its run.
    """
    return [
        place
        for place, known in enumerate(dims)
        if known.by_run_in(dataset) or (not known.by_node_in(dataset) and known.parts_in(dataset))
    ]


def by_place(shown: Sequence[Key], places: Sequence[int]) -> dict[Key, tuple[Key, ...]]:
    """
    What else is in the keys of the SHOWN rows, by what is at PLACES.
    """
    found: dict[Key, tuple[Key, ...]] = {}
    for key in shown:
        at = tuple(key[place] for place in places)
        rest = tuple(value for place, value in enumerate(key) if place not in places)
        found[at] = (*found.get(at, ()), rest)
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
