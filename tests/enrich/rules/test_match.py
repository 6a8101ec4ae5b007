"""What a rule names, and what it must not."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enrich.rules import Rules, read_rules
from tests.enrich.rules.conftest import Ruled, Written


def program(rules: Rules, command: str, name: str | None = None) -> str | None:
    return rules.match(name, None, command).program


@pytest.mark.parametrize(
    ("pattern", "applies_to", "command", "named"),
    [
        ("pip", "name", "pip install x", True),
        ("pip", "name", "pipeline --all", False),
        ("pip", "args", "run-it pipeline", False),
        ("pip", "args", "run-it -m pip", True),
        ("(grad)", "name", "gradient 3", False),
        ("(grad)", "name", "grad 3", True),
        ("(gmx)", "name", "gmx_mpi mdrun", True),
        ("gmx", "name", "gmx_mpi mdrun", False),
        ("vasp", "name", "vasp_std", False),
        ("vasp(_std)?", "name", "vasp_std", True),
        ("vasp(_std)?", "name", "my_vasp_std", False),
        ("vasp(_std)?", "name", "vasp_std.py", False),
        ("(g16)", "path", "/software/g16/bin/helper a", True),
        ("(g16)", "path", "/software/xg16x/bin/helper a", False),
        ("(g16)", "path", "/software/xg16/bin/helper a", False),
        ("(g16)", "path", "/software/g16x/bin/helper a", False),
        ("cp2k.popt", "name", "cp2k.popt -i a", True),
        ("cp2k.popt", "name", "cp2kxpopt -i a", False),
        ("g++", "name", "g++ a.cpp", True),
    ],
)
def test_patterns_stop_at_word_borders(
    ruled: Ruled, pattern: str, applies_to: str, command: str, named: bool
) -> None:
    """
    A plain word is the whole name; a pattern begins and ends at word borders.
    """
    rules = ruled(f"{pattern},Yes,,,,{applies_to}")

    assert ("Yes" if named else None) == program(rules, command)


def test_exact_names_come_before_patterns_and_arguments_before_both(ruled: Ruled) -> None:
    """
    What is said most exactly wins, whatever the order of the lines.
    """
    rules = ruled("b.*,Pattern", "bar,Exact", "bar +special,Arguments,,,,args")

    assert "Pattern" == program(rules, "bat")
    assert "Exact" == program(rules, "bar other")
    assert "Arguments" == program(rules, "bar special")


def test_first_of_two_patterns_wins(ruled: Ruled) -> None:
    """
    Patterns are asked from the first line to the last.
    """
    rules = ruled("ab.*,Special", "a.*,General")

    assert ["Special", "General"] == [program(rules, name) for name in ("abc", "axc")]


def test_site_comes_before_shipped(written: Written) -> None:
    """
    A site's own name for a program replaces ours, and only that one.
    """
    rules = read_rules([written("gmx.*,Our GROMACS")])

    assert "Our GROMACS" == program(rules, "gmx mdrun")
    assert "VASP" == program(rules, "vasp_std")


def test_site_can_leave_a_command_unnamed(written: Written) -> None:
    """
    The program `-` takes a name away that does not fit here.
    """
    rules = read_rules([written("flow,-")])
    match = rules.match("flow", None, "flow a")

    assert (None, "site.csv:2") == (match.program, match.rule)


def test_match_says_everything_about_the_program(ruled: Ruled) -> None:
    """
    Path, sorted tags, the rule's place and the version come with the name.
    """
    match = ruled("g(?P<version>16|09),Gaussian,,chemistry/quantum/gaussian,mpi licensed").match(
        "g16", "/sw/g16/g16", "g16 water.com"
    )

    assert ("Gaussian", "16", "chemistry/quantum/gaussian") == (
        match.program,
        match.version,
        match.path,
    )
    assert (("licensed", "mpi"), "site.csv:2", "g16 water.com") == (
        match.tags,
        match.rule,
        match.shape,
    )
    with pytest.raises(FrozenInstanceError):
        match.program = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("executable", "version"),
    [
        ("/software/GROMACS/2024.1-foss-2023b/bin/gmx", "2024.1"),
        ("/spack/opt/linux-rocky9/gcc-12.2.0/gromacs-2023.3-k2x/bin/gmx", "2023.3"),
        ("/usr/bin/gmx", None),
        ("/software/Anaconda3/2022.05/bin/gmx", None),
        ("/software/gromacs/v2022/bin/gmx", "2022"),
    ],
)
def test_version_comes_from_the_folder(ruled: Ruled, executable: str, version: str | None) -> None:
    """
    The version a program was installed as, never that of what it was installed with.
    """
    match = ruled("gmx,GROMACS,,chemistry/md/gromacs").match("gmx", executable, "gmx mdrun")

    assert version == match.version


def test_name_cut_by_the_kernel_matches_what_it_was_cut_from(ruled: Ruled) -> None:
    """
    15 bytes are all the kernel keeps of a name; with no command line they are all there is.
    """
    rules = ruled("containerd-shim-runc-v2,Docker", "jupyterhub-singleuser,Jupyter")

    assert "Docker" == rules.match("containerd-shim", None, None).program
    assert "Jupyter" == rules.match("jupyterhub-sing", None, None).program
    assert rules.match("jupyterhub", None, None).program is None


def test_cut_name_shared_by_two_programs_names_neither(ruled: Ruled) -> None:
    """
    Better unnamed than misnamed.
    """
    rules = ruled("abcdefghijklmno-one,One", "abcdefghijklmno-two,Two")

    assert rules.match("abcdefghijklmno", None, None).program is None
    assert "Two" == rules.match("abcdefghijklmno", None, "abcdefghijklmno-two x").program


def test_both_engines_give_the_same_answers(shipped: Rules, examples: list[list[str]]) -> None:
    """
    A machine without re2 names programs as one with it, only slower.
    """
    slow = Rules(shipped.layers, linear=False)

    for name, executable, command, _ in examples[::10]:
        assert shipped.match(name, executable, command) == slow.match(name, executable, command)


def test_version_of_the_rules_changes_with_their_meaning_only(written: Written) -> None:
    """
    A comment leaves the rules' version as it is; another program changes it.
    """
    plain = read_rules([written("a,A")]).version
    commented = read_rules([written("# why", "a,A")]).version
    other = read_rules([written("a,B")]).version

    assert plain == commented
    assert plain != other
    assert 12 == len(plain)


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=200))
def test_no_command_breaks_the_rules(shipped: Rules, name: str, path: str, command: str) -> None:
    """
    Any text may be a command line: it is named or not, and never an error.
    """
    match = shipped.match(name, path, command)

    assert (match.rule is None) == (match.program is None)
    assert len(match.shape) <= 200


def test_evil_command_line_costs_no_more_than_a_long_one(ruled: Ruled) -> None:
    """
    A pattern that backtracks for minutes elsewhere is linear here.
    """
    rules = ruled("(a+)+b,Evil,,,,args")

    assert program(rules, "x " + "a" * 2000) is None


def test_missing_file_is_named(tmp_path: Path) -> None:
    """
    The error says which file, why, and what to do.
    """
    from leadline.errors import SettingsError

    with pytest.raises(SettingsError, match=r"none\.csv: No such file.*; name a readable CSV"):
        read_rules([tmp_path / "none.csv"])
