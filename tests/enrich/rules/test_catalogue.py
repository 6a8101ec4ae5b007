"""The shipped catalogue holds against real command lines."""

import re
from pathlib import Path

from enrich.rules import Rules
from enrich.rules.files import SHIPPED
from enrich.rules.lint import lint, read_examples
from leadline.simulate.catalogue import commands

EXAMPLES = Path(__file__).with_name("examples.tsv")


def test_every_example_is_named_right_and_no_rule_is_idle() -> None:
    """
    The linter finds nothing: no example misnamed, no rule twice, none hidden by another.
    """
    problems = [str(problem) for problem in lint([SHIPPED], read_examples(EXAMPLES))]

    assert [] == problems


def test_every_program_has_an_example(shipped: Rules, examples: list[list[str]]) -> None:
    """
    At least 400 programs, each with a command line that shows what it is.
    """
    programs = {rule.program for layer in shipped.layers for rule in layer}

    assert set() == programs - {program for *_, program in examples}
    assert len(programs) >= 400


def test_every_program_has_its_place_of_three_levels(shipped: Rules) -> None:
    """
    `chemistry/quantum/gaussian`: lower case, three levels, no two programs in one place.
    """
    level = r"[a-z0-9][a-z0-9+-]*"
    places = {rule.program: rule.path or "" for layer in shipped.layers for rule in layer}
    odd = {
        p: path for p, path in places.items() if not re.fullmatch(f"{level}(/{level}){{2}}", path)
    }

    assert {} == odd
    assert len(places) == len(set(places.values()))


def test_simulated_commands_are_named_right_or_not_at_all(shipped: Rules) -> None:
    """
    Of 2,000 realistic commands at least 97 % are right, and what is wrong is unmatched.
    """
    answers = [
        (shipped.match(name, executable, line).program, truth)
        for name, executable, line, truth in commands(seed=7, count=2000)
    ]
    right = sum(1 for got, truth in answers if got == truth)
    misnamed = [(got, truth) for got, truth in answers if got not in {truth, None}]

    assert right >= 0.97 * len(answers)
    assert [] == misnamed


def test_what_people_write_themselves_stays_unnamed(shipped: Rules) -> None:
    """
    Names of one's own making are nobody's program.
    """
    own = ["./a.out", "./main 3", "./solver -n 4", "./run", "./simulate.x", "mycode.exe in.dat"]
    own += ["./test_prog", "./heat2d 100", "mc_chain_v3", "./pipeline", "./gradient", "./model"]
    own += ["./test", "./grad", "./flow", "./eddy", "./hmc", "./crystal_growth", "./md1_prod"]
    own += [
        "./ib_sim",
        "./z_scan",
        "./db_load",
        "./gene_expression",
        "./loop1",
        "./vector",
        "./mmchem",
    ]
    own += ["./evolution-1d", "./muscle3d_sim", "./converge-test", "./kernel", "./bench", "./opt"]

    named = {line: shipped.match(None, None, line).program for line in own}

    assert dict.fromkeys(own) == named


def test_script_named_after_a_program_is_not_that_program(shipped: Rules) -> None:
    """
    `python gaussian.py` is Python, `bash vasp.sh` is Bash.
    """
    scripts = (
        "gaussian vasp_std vasp6 orca5 gmx gmx_plot lmp_run e2e sander muscle5 phenix tough2-x"
    )
    named = {
        f"{script}.{ending}": shipped.match(None, None, f"{runs} {script}.{ending}").program
        for script in scripts.split()
        for runs, ending in (("python3", "py"), ("bash", "sh"), ("Rscript", "R"))
    }
    endings = {"py": "Python", "sh": "Bash", "R": "R"}

    assert {file: endings[file.rpartition(".")[2]] for file in named} == named
    assert "Bash" == shipped.match(None, None, "bash run_job.sh").program
    assert "File tools" == shipped.match(None, None, "rm -rf .vscode-server phenix.py").program
