"""The linter tells which rules can never win."""

from pathlib import Path

import pytest

from enrich.rules.lint import lint, read_examples
from leadline.errors import SettingsError
from tests.enrich.rules.conftest import Written


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("a,A", "a,B"), r"line 3: 'a' stands already in line 2, for A; keep one"),
        (("a,A", "a,A"), r"line 3: 'a' stands already in line 2; keep one"),
        (("ab.*,A", "abc[0-9],B"), r"line 3: never names 'abc0': line 2 \('ab\.\*'\) does; move"),
        (("(?:make),A,,,,args", "make,B"), r"line 3: never names 'make': line 2"),
        (("a,A,,x/y/z", "b,A,,x/y/w"), r"line 3: A has another place or other tags in line 2"),
        (("a,A,,x/y/z,gpu", "b,A,,x/y/z"), r"line 3: A has another place or other tags in line 2"),
        (
            ("abcdefghijklmno-one,One", "abcdefghijklmno-two,Two"),
            r"line 3: .* look alike once cut at 15 bytes; tell them apart",
        ),
    ],
)
def test_conflict_is_told(written: Written, lines: tuple[str, ...], problem: str) -> None:
    """
    Each conflict is one line with file, line, what and the way out.
    """
    import re

    (found,) = lint([written(*lines)])

    assert re.search(rf"site\.csv {problem}", str(found))


def test_good_rules_have_no_problems(written: Written) -> None:
    """
    Special before general, an exact name beside a pattern, one program with two names.
    """
    lines = ("abc[0-9],B", "ab.*,A", "abd,C", "zz,C")

    assert [] == lint([written(*lines)])


def test_examples_judge_the_rules(written: Written, tmp_path: Path) -> None:
    """
    A command that gets another name than it should is a problem of the example's line.
    """
    examples = tmp_path / "examples.tsv"
    rows = ("name\texecutable\tcommand_line\tprogram", "a\t\ta 1\tA", "b\t\tb 1\tA", "c\t\tc\tC")
    examples.write_text("\n".join(rows) + "\n")

    problems = [str(p) for p in lint([written("a,A", "b,B")], read_examples(examples))]

    assert [
        f"{examples} line 3: 'b 1' is B, by site.csv:3, not A; move the more special rule up",
        f"{examples} line 4: 'c' is unmatched, not C; add a rule",
    ] == problems


def test_foreign_examples_are_refused(tmp_path: Path) -> None:
    """
    A file without the header of examples is named with the header it should have.
    """
    path = tmp_path / "examples.tsv"
    path.write_text("a\tb\n")

    with pytest.raises(SettingsError, match="line 1: not a file of examples; its header is name"):
        read_examples(path)
