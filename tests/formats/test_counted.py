"""
Nouns that follow figures.
"""

from __future__ import annotations

from leadline.formats.counted import counted


def test_one_is_one() -> None:
    """
    A noun follows its figure.
    """
    assert ["1 node", "0 nodes", "1,203 nodes"] == [counted(n, "node") for n in (1, 0, 1203)]
    assert ["1 query", "2 queries"] == [counted(n, "query", "queries") for n in (1, 2)]
