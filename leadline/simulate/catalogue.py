"""
The programs a simulated fleet runs: realistic command lines, and the name each truly has.

The truth is only worth something if the shipped rules agree with it: a test asks them for each.
Some commands have no name on purpose: every real cluster has programs nobody has a rule for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, cast

Way = Literal["mpi", "threads", "serial", "pipeline", "gpu", "login"]

UNMATCHED = "unmatched"


@dataclass(frozen=True, slots=True)
class Recipe:
    """
    One program: who it is, how it is called, and how it behaves.
    """

    program: str | None  # None: no rule names it
    name: str  # what the kernel would call it, cut at 15 bytes when sent
    executable: str
    template: str
    field: str  # the kind of people who run it
    way: Way
    load: float  # of the cores it asked for
    memory: float  # GiB per core


APPS = "/cluster/software"
TABLE = Path(__file__).with_name("catalogue.tsv")


def _read() -> tuple[Recipe, ...]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(_recipe(line.split("\t")) for line in lines[2:])


def _recipe(cells: list[str]) -> Recipe:
    program, name, field, way, load, memory, executable, template = cells
    return Recipe(
        program=None if program == "-" else program,
        name=name,
        executable=executable.replace("{apps}", APPS),
        template=template.replace("{apps}", APPS),
        field=field,
        way=cast(Way, way),
        load=float(load),
        memory=float(memory),
    )


CATALOGUE: tuple[Recipe, ...] = _read()

CASES = (
    "water", "prod", "step7", "md_0_1", "lysozyme", "NaCl", "graphene", "sample42", "run_b", "MoS2",
    "TiO2-slab", "spike", "membrane", "exp-003", "control", "wing", "cavity", "fjord", "heat2d",
    "ERA5_t2m", "patient_17", "soil", "E_coli", "ubiquitin", "benzene", "perovskite", "Fe3O4",
)  # fmt: skip


def command_line(recipe: Recipe, random: Random, user: str, job: str) -> tuple[str, str]:
    """
    The executable and one realistic command line of RECIPE.
    """
    executable = recipe.executable.replace("{user}", user)
    values = {
        "case": random.choice(CASES),
        "n": random.randrange(2, 9999),
        "user": user,
        "job": job or "0",
        "exe": executable,
    }
    return executable, recipe.template.format(**values)


def by_way(way: Way, field: str | None = None) -> tuple[Recipe, ...]:
    return tuple(r for r in CATALOGUE if r.way == way and field in {None, r.field})


def commands(seed: int, count: int) -> list[tuple[str, str, str, str | None]]:
    """
    COUNT command lines as (name, executable, command line, true program or None), for testing
    rules: the same for the same seed.
    """
    random = Random(seed)  # noqa: S311 - a simulation, not a secret
    made = []
    for _ in range(count):
        recipe = random.choice(CATALOGUE)
        user = f"user{random.randrange(200)}"
        executable, line = command_line(recipe, random, user, str(random.randrange(10**6, 10**7)))
        made.append((recipe.name[:15], executable, line, recipe.program))
    return made
