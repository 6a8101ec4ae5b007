"""
Every store: search over command lines.
"""

from __future__ import annotations

import pytest

from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING, Scope
from tests.store.cases import at
from tests.store.documents import process

LINES = [
    process(
        1, **{"process.command_line": "gmx_mpi mdrun -s topol.tpr -ntomp 8", "core_seconds": 36.0}
    ),
    process(
        2, **{"process.command_line": "gmx_mpi mdrun -s topol.tpr -ntomp 8", "core_seconds": 36.0}
    ),
    process(
        3, **{"process.command_line": "python3.11 train_v2.py --epochs=20", "core_seconds": 7200.0}
    ),
    process(4, **{"process.command_line": "/cluster/software/GROMACS/bin/gmx dump -s other.tpr"}),
    process(5, **{"process.command_line": "python plot.py membrane_123"}),
    process(6),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gmx", {1, 4}),
        ("GMX_MPI", {1}),
        ("mpi", {1}),
        ("python3", {3}),
        ("python", {5}),
        ("python*", {3, 5}),
        ("train", {3}),
        ("train_v2.py", {3}),
        ("membrane", {5}),
        ("--epochs", {3}),
        ("epochs", {3}),
        ('"mdrun -s topol.tpr"', {1}),
        ('"topol.tpr -ntomp 8"', {1}),
        ('"mdrun topol.tpr"', set()),
        ("/cluster/software/gromacs", {4}),
        ("software/cluster", set()),
        ("gmx -dump", {1}),
        ("-gmx", {3, 5}),
        ('tpr -"mdrun -s"', {4}),
        ("nothing", set()),
        ("", {1, 3, 4, 5}),
        ("topol*", {1}),
        ("20", {3}),
        ("(", {1, 3, 4, 5}),
    ],
)
def test_search_finds_words_phrases_prefixes(store: Store, text: str, expected: set[int]) -> None:
    """
    By words and their parts, phrases in order, prefixes; a single minus takes away.
    """
    store.write(LINES, "create")
    wanted = {str(LINES[number - 1]["process.command_line"]) for number in expected}

    found = store.search(text, EVERYTHING)

    assert {hit.command_line for hit in found.hits} == wanted
    assert found.total == len(wanted)


def test_search_orders_by_words_then_hours_then_last_seen(store: Store) -> None:
    """
    What holds more of the words comes first, then what used more, then what was seen last.
    """
    store.write(LINES, "create")

    found = store.search("gmx mdrun tpr python*", EVERYTHING)

    assert [(hit.matched, hit.samples) for hit in found.hits] == [(3, 2), (2, 1), (1, 1), (1, 1)]
    assert found.hits[0].core_hours == pytest.approx(0.02)
    assert found.hits[0].last_seen == "2026-11-21T04:00:02.000Z"
    assert found.hits[2].command_line.startswith("python3.11")


def test_search_keeps_to_filters_scope_and_limit(store: Store) -> None:
    """
    A hit is made of the documents that may be seen and lie in the period.
    """
    store.write(
        [
            process(
                1,
                **{
                    "process.command_line": "vasp_std",
                    "user.name": "alice",
                    "program.name": "VASP",
                },
            ),
            process(2, **{"process.command_line": "vasp_std", "user.name": "bob"}),
            process(3, **{"process.command_line": "vasp_gam", "user.name": "bob"}),
        ],
        "create",
    )

    [hit] = store.search("vasp", Scope(users=frozenset({"alice"}))).hits
    assert (hit.samples, hit.users, hit.programs) == (1, ("alice",), ("VASP",))
    one = store.search("vasp", EVERYTHING, limit=1)
    assert (len(one.hits), one.total) == (1, 2)
    bob = Condition("user.name", Op.IN, ("bob",))
    assert store.search("std", EVERYTHING, where=(bob,)).hits[0].users == ("bob",)
    assert store.search("vasp", EVERYTHING, end=at(21, 4)).total == 0
