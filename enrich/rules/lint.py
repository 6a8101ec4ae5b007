"""
What is wrong with a file of rules although it can be read: rules that never win, and doubles.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from enrich.rules.files import read_file
from enrich.rules.match import Rules
from enrich.rules.rule import Rule
from enrich.rules.sample import sample
from enrich.rules.unwrap import COMM, Level
from leadline.errors import SettingsError

EXAMPLE_COLUMNS = ("name", "executable", "command_line", "program")


@dataclass(frozen=True)
class Example:
    """
    A command and the program it truly is.
    """

    name: str | None
    executable: str | None
    command_line: str | None
    program: str
    where: str


@dataclass(frozen=True)
class Problem:
    where: str
    what: str
    way_out: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.way_out}"


def read_examples(path: Path) -> tuple[Example, ...]:
    """
    Examples from a TSV with the columns name, executable, command_line, program.
    """
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            if tuple(reader.fieldnames or ()) != EXAMPLE_COLUMNS:
                way_out = f"its header is {' '.join(EXAMPLE_COLUMNS)}, separated by tabs"
                raise SettingsError(f"{path} line 1: not a file of examples; {way_out}")
            return tuple(_example(path, reader.line_num, row) for row in reader)
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"{path}: {reason}; name a readable file of examples") from error


def _example(path: Path, line: int, row: dict[str, str]) -> Example:
    if not row["program"]:
        raise SettingsError(f"{path} line {line}: no program; separate four cells by tabs")
    return Example(
        row["name"] or None,
        row["executable"] or None,
        row["command_line"] or None,
        row["program"],
        f"{path} line {line}",
    )


def lint(files: Sequence[Path], examples: Iterable[Example] = ()) -> list[Problem]:
    """
    Every problem of FILES, taken as layers in this order. Raises SettingsError when one is broken.
    """
    layers = [read_file(path) for path in files]
    problems = [problem for layer in layers for problem in _one_layer(layer)]
    rules = Rules(layers)
    return problems + [problem for example in examples for problem in _against(rules, example)]


def _one_layer(layer: Sequence[Rule]) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[tuple[str, str], Rule] = {}
    places: dict[str, Rule] = {}
    for rule in layer:
        for target in rule.applies_to:
            earlier = first.setdefault((target, rule.pattern), rule)
            if earlier is not rule:
                problems.append(_twice(rule, earlier))
        if rule.program and rule.path:
            place = places.setdefault(rule.program, rule)
            if place.path != rule.path or place.tags != rule.tags:
                problems.append(_two_places(rule, place))
    return problems + _hidden(layer) + _alike_when_cut(layer)


def _hidden(layer: Sequence[Rule]) -> list[Problem]:
    """
    Rules that never win: an earlier one takes what they stand for, for another program.
    """
    rules = Rules([layer])
    problems = []
    for rule in layer:
        text = rule.pattern if rule.exact else sample(rule.inner)
        for target in rule.applies_to if text else ():
            hit = rules.find_level(_level(target, str(text)))
            if hit and hit.rule.pattern != rule.pattern and hit.rule.program != rule.program:
                what = f"never names {text!r}: line {hit.rule.line} ({hit.rule.pattern!r}) does"
                problems.append(Problem(_where(rule), what, "move it up, or take it out"))
    return problems


def _level(target: str, text: str) -> Level:
    if target == "name":
        return Level(text, "", text)
    return Level("", text, "") if target == "path" else Level("", "", text)


def _twice(rule: Rule, earlier: Rule) -> Problem:
    what = f"{rule.pattern!r} stands already in line {earlier.line}"
    if rule.program != earlier.program:
        what += f", for {earlier.program or 'no program'}"
    return Problem(_where(rule), what, "keep one of them")


def _two_places(rule: Rule, place: Rule) -> Problem:
    what = f"{rule.program} has another place or other tags in line {place.line}"
    return Problem(_where(rule), what, "give one program one path and one set of tags")


def _against(rules: Rules, example: Example) -> list[Problem]:
    hit = rules.find(example.name, example.executable, example.command_line)
    got = hit.rule.program if hit else None
    if got == example.program:
        return []
    command = example.command_line or example.name
    by = f", by {hit.rule.source}" if hit else ""
    what = f"{command!r} is {got or 'unmatched'}{by}, not {example.program}"
    way_out = "move the more special rule up" if hit else "add a rule"
    return [Problem(example.where, what, way_out)]


def _alike_when_cut(layer: Sequence[Rule]) -> list[Problem]:
    """
    Exact names that the kernel cuts at 15 bytes to the same text, though the programs differ.
    """
    problems = []
    cut: dict[bytes, Rule] = {}
    for rule in layer:
        name = rule.pattern.encode()
        if not rule.exact or "name" not in rule.applies_to or len(name) <= COMM:
            continue
        earlier = cut.setdefault(name[:COMM], rule)
        if earlier.program != rule.program:
            what = f"{rule.pattern!r} and {earlier.pattern!r} look alike once cut at {COMM} bytes"
            problems.append(Problem(_where(rule), what, "tell them apart by path or arguments"))
    return problems


def _where(rule: Rule) -> str:
    return f"{rule.where} line {rule.line}"
