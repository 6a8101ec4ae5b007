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


def test_facets_count_samples_of_every_matching_line(store: Store) -> None:
    """
    By user, program and month, of all that match and not only of the hits shown; what a sample
    does not say is not counted.
    """
    people = [("alice", "VASP", "2026-10-31"), ("bob", "VASP", "2026-11-01"), ("bob", None, None)]
    documents = []
    for number, (user, program, day) in enumerate(people):
        fields = {"user.name": user, "program.name": program, "local.day": day}
        line = {"process.command_line": f"vasp_std run{number}"}
        made = process(number, **{k: v for k, v in fields.items() if v}, **line)
        documents.append({k: v for k, v in made.items() if day or k != "local.day"})
    documents.append(process(9, **{"process.command_line": "other", "user.name": "eve"}))
    store.write(documents, "create")

    found = store.search("vasp", EVERYTHING, limit=1)

    assert (1, 3) == (len(found.hits), found.total)
    assert found.facets == {
        "user": {"bob": 2, "alice": 1},
        "program": {"VASP": 2},
        "month": {"2026-10": 1, "2026-11": 1},
    }
    assert store.search("nobody", EVERYTHING).facets == {"user": {}, "program": {}, "month": {}}
