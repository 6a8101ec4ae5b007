"""
The analyzer in the templates cuts command lines as leadline.store.words does.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.formats.templates import SEPARATORS, STRIPPED
from leadline.store import words
from leadline.store.opensearch import search
from leadline.store.opensearch.store import OpenSearchStore
from leadline.store.scope import EVERYTHING
from tests.opensearch_fixture import TEST_PREFIX
from tests.store.documents import process

pytestmark = pytest.mark.opensearch

LINES = (
    "/cluster/software/GROMACS/2024/bin/gmx_mpi mdrun -s topol.tpr -ntomp 8 -v",
    "python3.11 train_v2.py --epochs=100 --lr 1e-4 data/membrane_123.h5",
    "mpirun -np 64 vasp_std",
    "sh -c \"echo 'hej' && exit 1\"",
    "java -Xmx4g -cp a.jar:b.jar Main",
    "a - b -- c ... d",
    "Ünder_Säge ÆØÅ-æøå",
    "x" * 9000,
)
ALPHABET = SEPARATORS + STRIPPED + " \tabcXYZ019_~#^é"


def places(store: OpenSearchStore, line: str) -> tuple[frozenset[str], ...]:
    """
    What the engine finds each place of a line by, as words.index tells it.
    """
    analyzed: Any = store.client.post(
        f"/{TEST_PREFIX}-process-2026.11/_analyze", {"analyzer": "cmdline", "text": line}
    )
    found: dict[int, set[str]] = {}
    for token in analyzed["tokens"]:
        found.setdefault(token["position"], set()).add(token["token"])
    return tuple(frozenset(found.get(place, ())) for place in range(max(found, default=-1) + 1))


def trimmed(cut: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    """
    Without empty places at the end, which no engine reports.
    """
    while cut and not cut[-1]:
        cut = cut[:-1]
    return cut


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:20])
def test_real_lines_are_cut_alike(opensearch_store: OpenSearchStore, line: str) -> None:
    """
    Same words at the same places.
    """
    opensearch_store.write([process(1)], "create")
    assert places(opensearch_store, line[:8191]) == trimmed(words.index(line[:8191]))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(line=st.text(ALPHABET, max_size=40))
def test_any_line_is_cut_alike(opensearch_store: OpenSearchStore, line: str) -> None:
    """
    Whatever separators, dashes and blanks stand where.
    """
    opensearch_store.write([process(1)], "create")
    assert places(opensearch_store, line) == trimmed(words.index(line))


@pytest.mark.parametrize(
    "text", ["gmx", "membrane", "epochs", "python3", "vasp", "train", "topol.tpr", "software"]
)
def test_hits_are_those_of_like(opensearch_store: OpenSearchStore, text: str) -> None:
    """
    A word finds each line that holds it, as LIKE '%word%' would on these lines.
    """
    batch = [process(n, **{"process.command_line": line}) for n, line in enumerate(LINES[:7])]
    opensearch_store.write(batch, "create")
    found = {hit.command_line for hit in opensearch_store.search(text, EVERYTHING).hits}
    assert found == {line for line in LINES[:7] if text in line.lower()}


@pytest.mark.parametrize("chunk", [1, 50_000])
@pytest.mark.parametrize(("text", "runs"), [("vasp", 6), ("vasp -run3", 5), ("vasp -slow", 2)])
def test_facets_are_of_the_lines_found(
    opensearch_store: OpenSearchStore,
    monkeypatch: pytest.MonkeyPatch,
    chunk: int,
    text: str,
    runs: int,
) -> None:
    """
    Whether the lines found are named to the engine, some at a time, or those beside them.
    """
    monkeypatch.setattr(search, "CHUNK", chunk)
    lines = [f"vasp run{n} {'slow' if n > 1 else 'quick'}" for n in range(6)]
    made = [process(n, **{"process.command_line": line}) for n, line in enumerate(lines)]
    opensearch_store.write([{**one, "user.name": "bob"} for one in made], "create")
    found = opensearch_store.search(text, EVERYTHING)
    assert (found.total, found.facets["user"]) == (runs, {"bob": runs})
