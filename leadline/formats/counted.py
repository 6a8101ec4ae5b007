"""
A figure and the noun that follows it, for every sentence that counts: 1 node, 2 nodes.
"""

from __future__ import annotations


def counted(count: float, one: str, several: str = "") -> str:
    """
    1 node, 2 nodes, 1,203 nodes, thousands apart; SEVERAL where it is not ONE and an s.
    """
    return f"{count:,.0f} {one if count == 1 else several or f'{one}s'}"
