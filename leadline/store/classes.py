"""
Classes of a number, 32 to each doubling: fine enough for percentiles, few enough to keep.

A class is the number's six highest bits and how far they stand from the end, so that every store
finds it by whole numbers alone. Below 64 each number is a class of its own.
"""

from __future__ import annotations

BITS = 5  # 2 ** 5 classes to a doubling
PER_DOUBLING = 1 << BITS


def class_of(value: int) -> int:
    shift = max(0, value.bit_length() - BITS - 1)
    return shift * PER_DOUBLING + (value >> shift)


def least_of(number: int) -> int:
    """
    The least value of a class.
    """
    if number < 2 * PER_DOUBLING:
        return number
    shift = number // PER_DOUBLING - 1
    return (number - shift * PER_DOUBLING) << shift


def middle_of(number: int) -> float:
    """
    What stands for all values of a class: none is further from it than a 64th.
    """
    return (least_of(number) + least_of(number + 1) - 1) / 2
