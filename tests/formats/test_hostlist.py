"""Folded host lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import FormatError
from leadline.formats.hostlist import expand_hosts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c1-[5-7,9]", ["c1-5", "c1-6", "c1-7", "c1-9"]),
        ("c1-[08-11],gpu-2", ["c1-08", "c1-09", "c1-10", "c1-11", "gpu-2"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n1,n1", ["n1"]),
        ("None assigned", []),
        (None, []),
    ],
)
def test_list_is_unfolded(text: str | None, expected: list[str]) -> None:
    """
    Ranges keep their leading zeros, several brackets multiply, repeats count once.
    """
    assert expected == expand_hosts(text)


@pytest.mark.parametrize(
    "text", ["c[1-", "c1]", "c[9-1]", "c[1-9999999]", "c[a-b]", "a b", "c[[1]]"]
)
def test_nonsense_is_refused(text: str) -> None:
    """
    A list that cannot be right is refused, and a huge one does not eat the memory.
    """
    with pytest.raises(FormatError, match="host list"):
        expand_hosts(text)


@given(st.text("abc01[]-,", max_size=30))
def test_any_text_raises_only_format_error(text: str) -> None:
    """
    Whatever stands there, the answer is hosts or FormatError.
    """
    try:
        assert isinstance(expand_hosts(text), list)
    except FormatError:
        return
