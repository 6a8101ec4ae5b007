"""`leadline programs`: what it says about rules and about stored commands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.errors import SettingsError
from leadline.formats import Document
from leadline.store.lake import LakeStore

Told = Callable[..., Result]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    def run(*words: str, rules: str = "") -> Result:
        options = ["--store", f"lake:{tmp_path / 'lake'}", "--set", f"paths.data={tmp_path}"]
        if rules:
            (tmp_path / "site.csv").write_text(f"pattern,program\n{rules}\n")
            options += ["--set", f"enrich.rules={tmp_path / 'site.csv'}"]
        return CliRunner().invoke(cli, [*options, "programs", *words])

    return run


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """
    Yesterday: two hours of a command nobody knows, one of GROMACS.
    """
    when = datetime.now(UTC) - timedelta(days=1)
    store = LakeStore(tmp_path / "lake")
    lines = ("mysolver --seed 1", "mysolver --seed 2", "gmx mdrun")
    store.write([document(when, number, line) for number, line in enumerate(lines)], "create")
    store.close()


def document(when: datetime, number: int, line: str) -> Document:
    name = line.split()[0]
    made: Document = {
        "@timestamp": when.isoformat(timespec="milliseconds"),
        "sample.time": when.isoformat(timespec="milliseconds"),
        "dataset": "process",
        "cluster": "fox",
        "host.name": "c1-1",
        "boot.id": "b",
        "interval.seconds": 60.0,
        "sample.uptime": 1000,
        "process.entity_id": f"{number}-1",
        "process.pid": number,
        "process.name": name,
        "process.command_line": line,
        "command.shape": "mysolver --seed #" if name == "mysolver" else line,
        "user.name": f"user{number}",
        "core_seconds": 3600.0,
    }
    return {**made, "program.name": "GROMACS"} if name == "gmx" else made


def test_command_is_told_with_its_rule_and_why(told: Told) -> None:
    """
    The program, the rule's line, and what was asked on the way.
    """
    output = told("test", "srun python -m torch.distributed.run train.py").output

    assert "program  PyTorch" in output
    assert "path     ai/framework/pytorch" in output
    assert "asked    'torch.distributed.run', then 'torch', then 'python', then 'srun'" in output
    assert "for its name is torch.distributed.run" in output
    assert "rule     programs.csv:" in output


def test_unknown_command_is_told_with_the_way_out(told: Told) -> None:
    """
    Nothing is made up: unmatched, and where a rule would go.
    """
    output = told("test", "./mysolver 3").output

    assert "program  unmatched" in output
    assert "none; add one to a file named in enrich.rules of the settings" in output


def test_rules_in_force_have_no_conflicts(told: Told) -> None:
    """
    Without a file the shipped rules are checked, and end with 0.
    """
    done = told("lint")

    assert 0 == done.exit_code
    assert "rules, 0 problems" in done.output


def test_conflicts_end_with_1(told: Told, tmp_path: Path) -> None:
    """
    One line for each, with file and line.
    """
    path = tmp_path / "mine.csv"
    path.write_text("pattern,program\na,A\na,B\n")

    done = told("lint", str(path))

    assert 1 == done.exit_code
    assert f"{path} line 3: 'a' stands already in line 2, for A" in done.output
    assert "2 rules, 1 problem\n" in done.output


@pytest.mark.usefixtures("filled")
def test_unmatched_commands_come_by_core_hours_and_shape(told: Told) -> None:
    """
    Two commands of one shape are one row, with its hours, samples and users.
    """
    lines = told("unmatched").output.splitlines()

    assert "2.0 of 3.0 core hours (66.7 %) have no program." == lines[0]
    assert ["2.0", "2", "2", "mysolver", "--seed", "#"] == lines[2].split()
    assert 3 == len(lines)


@pytest.mark.usefixtures("filled")
def test_unmatched_commands_may_come_by_the_name_a_rule_needs(told: Told) -> None:
    """
    All shapes of one program are one row: what is worth a rule.
    """
    lines = told("unmatched", "--by", "name").output.splitlines()

    assert ["2.0", "2", "2", "mysolver"] == lines[2].split()


def test_empty_store_says_so(told: Told, tmp_path: Path) -> None:
    """
    Never an empty table.
    """
    LakeStore(tmp_path / "lake").close()
    assert "No samples (last 30 days)." in told("unmatched").output


@pytest.mark.usefixtures("filled")
def test_new_rule_moves_the_hours(told: Told) -> None:
    """
    A rule, applied: the hours leave `unmatched` for the new name, and only those.
    """
    dry = told("apply", "--since", "3d", "--dry-run", rules="mysolver,My Solver").output
    done = told("apply", "--since", "3d", rules="mysolver,My Solver").output
    again = told("apply", "--since", "3d", rules="mysolver,My Solver").output
    left = told("unmatched").output

    assert "2.0  unmatched → My Solver" in dry
    assert "3 documents changed since" in done  # GROMACS gets its place in the hierarchy
    assert "2.0  unmatched → My Solver" in done
    assert ": 0 documents changed since" in again
    assert "0.0 of 3.0 core hours (0.0 %) have no program." in left


def test_wrong_day_is_refused(told: Told) -> None:
    """
    What cannot be read as a day is told with how to write one.
    """
    done = told("apply", "--since", "yesterday")

    assert isinstance(done.exception, SettingsError)
    assert "--since 'yesterday' is no day; write 2026-03-01 or 30d" == str(done.exception)
