"""
Parts by key: what rows are before any measure is computed, and how several become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from leadline.query.compile import Source
from leadline.query.measure import JOINED, Part, joined, nothing
from leadline.store.plan import Function, Plan, Row, Scalar

Key = tuple[Scalar | None, ...]
Parts = dict[str, Part]
Table = dict[Key, Parts]


def joined_tables(functions: Mapping[str, Function], tables: Sequence[Table]) -> Table:
    """
    The greatest table, with what the others know of its rows, and their own.
    """
    if not tables:
        return {}
    first, *others = sorted(tables, key=len, reverse=True)
    joined_rows = dict(first)
    for table in others:
        for key, parts in table.items():
            known = joined_rows.get(key)
            joined_rows[key] = parts if known is None else join_parts(functions, (known, parts))
    return joined_rows


def values_of(keys: Iterable[Key]) -> dict[Key, set[Scalar]]:
    """
    The values that come last in KEYS, by the rest of the key.
    """
    found: dict[Key, set[Scalar]] = {}
    for *rest, value in keys:
        values = found.setdefault(tuple(rest), set())
        if value is not None:
            values.add(value)
    return found


def any_of(plan: Plan, parts: Parts) -> bool:
    """
    Whether there was a document: a wait of no seconds is one, a count of 0 is none.
    """
    empty = {a.name: nothing(a.function) for a in plan.aggregates}
    return any(value != empty[name] for name, value in parts.items())


def numbers(plan: Plan, row: Row) -> Parts:
    return {a.name: row[a.name] for a in plan.aggregates}  # type: ignore[misc]


def joins(source: Source) -> bool:
    """
    Whether rows of this source can be joined without asking again.
    """
    functions = source.functions().values()
    return not source.running and all(
        f in JOINED or (source.listed and f is Function.DISTINCT) for f in functions
    )


def join_rows(source: Source, table: Table, onto: Callable[[Key], Key]) -> Table:
    """
    Rows of TABLE with the same ONTO(key) joined to one; only of a source that joins.
    """
    members: dict[Key, list[Parts]] = {}
    for key, parts in table.items():
        members.setdefault(onto(key), []).append(parts)
    functions = source.functions()
    return {key: join_parts(functions, several) for key, several in members.items()}


def join_parts(functions: Mapping[str, Function], several: Sequence[Parts]) -> Parts:
    return {n: joined(f, [parts[n] for parts in several]) for n, f in functions.items()}
