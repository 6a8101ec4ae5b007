"""Rule files: what is read, and how each mistake is told."""

from pathlib import Path

import pytest

from enrich.rules.files import read_file
from leadline.errors import SettingsError
from tests.enrich.rules.conftest import Written


def test_comments_and_blank_lines_are_passed_over(written: Written) -> None:
    """
    A rule knows the line it stands in, whatever stands above it.
    """
    rules = read_file(written("# mine", "", "a,A", "  # more", "b,B"))

    assert ["site.csv:4", "site.csv:6"] == [rule.source for rule in rules]


def test_tabs_separate_as_well_as_commas(written: Written) -> None:
    """
    A TSV needs no quotes around a comma.
    """
    header = "pattern\tprogram\ttags"
    (rule,) = read_file(written("a{1,2}b\tA\tgpu mpi gpu", name="site.tsv", header=header))

    assert ("a{1,2}b", ("gpu", "mpi")) == (rule.pattern, rule.tags)


def test_pattern_with_a_comma_is_quoted(written: Written) -> None:
    """
    CSV's own quoting holds.
    """
    (rule,) = read_file(written('"a{1,2}b",A'))

    assert "a{1,2}b" == rule.pattern


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("a(b,A", r"line 2: pattern 'a\(b': missing \).*; correct it"),
        ("a(?=b),A", r"line 2: pattern .*looks around or back"),
        (r"(a)\1,A", r"line 2: pattern .*looks around or back"),
        ("a*,A", r"line 2: pattern 'a\*' matches nothing at all; leave at least one"),
        (",A", r"line 2: the pattern is empty; fill it in"),
        ("a,", r"line 2: the program is empty; fill it in"),
        ("a,A,,x/y/z/w", r"line 2: path 'x/y/z/w' is no place.*as chemistry/quantum/gaussian"),
        ("a,A,,x//z", r"line 2: path 'x//z' is no place in the hierarchy"),
        ("a,A,,,,command", r"line 2: applies_to 'command' is unknown; use one or more of name"),
        ("a,A,,,,,,", r"line 2: 8 cells where the header has 6"),
        ('"a,A', r"line 2: unexpected end of data; put a cell"),
    ],
)
def test_mistake_names_file_line_and_way_out(written: Written, line: str, error: str) -> None:
    """
    One line that says what, where, and what to do.
    """
    with pytest.raises(SettingsError, match=rf"site\.csv {error}"):
        read_file(written(line))


@pytest.mark.parametrize(
    ("header", "error"),
    [
        ("patern,program", r"line 1: unknown column 'patern'; did you mean 'pattern'\?"),
        ("pattern,colour", r"line 1: unknown column 'colour'; known are pattern, program"),
        ("pattern,version", r"line 1: no column 'program'; the header is pattern,program"),
        ("pattern,program,pattern", r"line 1: column 'pattern' stands twice"),
    ],
)
def test_wrong_header_is_refused(written: Written, header: str, error: str) -> None:
    """
    A column nobody knows is a mistake, not a remark.
    """
    with pytest.raises(SettingsError, match=error):
        read_file(written("a,A", header=header))


def test_empty_file_and_foreign_bytes_are_refused(tmp_path: Path) -> None:
    """
    A file that holds no rules is told from one that holds none on purpose.
    """
    empty, latin = tmp_path / "empty.csv", tmp_path / "latin.csv"
    empty.write_text("# nothing yet\n")
    latin.write_bytes(b"pattern,program\na,Schr\xf6dinger\n")

    with pytest.raises(SettingsError, match="no header; begin it with"):
        read_file(empty)
    with pytest.raises(SettingsError, match="line 2: not UTF-8; save the file as UTF-8"):
        read_file(latin)
