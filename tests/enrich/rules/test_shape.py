"""Commands that differ only in numbers and folders have one shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enrich.rules import command_shape


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("./prog --seed 17 run_3.dat", "./prog --seed 42 run_118.dat"),
        ("/home/a/x/prog in.txt", "/home/b/y/z/prog in.txt"),
        ("prog --out=/a/b/c.txt", "prog --out=/d/c.txt"),
        ("prog 3fa85f64-5717-4562-b3fc-2c963f66afa6", "prog 11111111-2222-3333-4444-555555555555"),
        ("prog deadbeef01234567", "prog 0a1b2c3d4e5f6789"),
        ("prog -x 1e-5 0x7f", "prog -x 3.25 0xff"),
        ("prog a1.fq a2.fq a3.fq", "prog a1.fq a2.fq"),
        ("prog  a\tb", "prog a b"),
    ],
)
def test_same_work_has_the_same_shape(one: str, other: str) -> None:
    """
    Numbers, hashes, folders and how many files there are do not make another command.
    """
    assert command_shape(one) == command_shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("prog -k1", "prog -k2"),
        ("g16 a.com", "g09 a.com"),
        ("python train.py", "python test.py"),
        ("prog --fast", "prog --slow"),
    ],
)
def test_other_work_has_another_shape(one: str, other: str) -> None:
    """
    The program, its options and the names of its files stay.
    """
    assert command_shape(one) != command_shape(other)


def test_shape_can_be_read() -> None:
    """
    The script of an interpreter is to be seen, its folder is not.
    """
    line = "/usr/bin/python3.11 /home/alice/job17/train.py --lr 0.01 --epochs=30"

    assert "…/python3.11 …/train.py --lr # --epochs=#" == command_shape(line)
    assert "" == command_shape(None)


@given(st.text())
def test_shape_is_short_and_on_one_line(line: str) -> None:
    """
    200 characters at most, no line ends: it is a key, and printed in tables.
    """
    shape = command_shape(line)

    assert len(shape) <= 200
    assert shape == " ".join(shape.split())
