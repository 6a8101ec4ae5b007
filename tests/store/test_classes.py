"""
Classes of numbers: in order, without gaps, and fine enough.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leadline.store.classes import class_of, least_of, middle_of


def test_classes_follow_each_other() -> None:
    """
    Each class begins where the one before ends, and its least value is in it.
    """
    starts = [least_of(number) for number in range(1400)]
    assert starts == sorted(set(starts))
    assert [class_of(start) for start in starts] == list(range(1400))
    assert [class_of(start - 1) for start in starts[1:]] == list(range(1399))


@given(st.integers(0, 2**62))
def test_what_stands_for_a_value_is_near(value: int) -> None:
    """
    The middle of a class is within 1.6 % of whatever lies in it.
    """
    assert abs(middle_of(class_of(value)) - value) <= value / 64


def test_doublings_are_borders() -> None:
    """
    No class reaches over a power of two, so coarser classes are made of whole ones.
    """
    assert all(least_of(class_of(2**power)) == 2**power for power in range(62))
