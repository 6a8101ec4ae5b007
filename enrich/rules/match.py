"""
From a command to its program: the layers of rules, asked in one order.

For each layer of the command (see unwrap): rules on arguments first, for they say the most, then
exact names and paths, then patterns on names and paths, each from the first line to the last.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from enrich.rules.engine import Searcher, searcher
from enrich.rules.files import SHIPPED, read_layers
from enrich.rules.rule import Rule
from enrich.rules.shape import command_shape
from enrich.rules.unwrap import COMM, Level, levels
from enrich.rules.version import version_in_path

SCRIPTS = (".py", ".sh", ".pl", ".R", ".r", ".jl", ".rb", ".m", ".lua", ".bash", ".csh", ".txt")


@dataclass(frozen=True, slots=True)
class Match:
    """
    What a command is. `program` is None when no rule names it.
    """

    program: str | None
    version: str | None
    path: str | None
    tags: tuple[str, ...]
    rule: str | None
    shape: str


@dataclass(frozen=True, slots=True)
class Hit:
    """
    The rule that held, on which text, and why.
    """

    rule: Rule
    target: str
    level: Level
    version: str | None


class _Layer:
    """
    The rules of one file, laid out for searching.
    """

    def __init__(self, rules: Sequence[Rule], *, linear: bool) -> None:
        self._names: dict[str, Rule] = {}
        self._paths: dict[str, Rule] = {}
        self._cut: dict[str, Rule | None] = {}
        patterns: dict[str, list[Rule]] = {"name": [], "path": [], "args": []}
        for rule in rules:
            for target in rule.applies_to:
                if rule.exact and target == "name":
                    self._names.setdefault(rule.pattern, rule)
                elif rule.exact and target == "path":
                    self._paths.setdefault(rule.pattern, rule)
                else:
                    patterns[target].append(rule)
        self._add_cut_names()
        self._order = {id(rule): place for place, rule in enumerate(rules)}
        self._rules = patterns
        self._searchers: dict[str, Searcher] = {
            target: searcher([rule.anchored(target) for rule in found], linear=linear)
            for target, found in patterns.items()
        }

    def _add_cut_names(self) -> None:
        for name, rule in self._names.items():
            if len(name.encode()) <= COMM:
                continue
            cut = name.encode()[:COMM].decode(errors="ignore")
            known = self._cut.setdefault(cut, rule)
            if known is not None and known.program != rule.program:
                self._cut[cut] = None

    def find(self, level: Level) -> Hit | None:
        found = self._first("args", level.text, level)
        if found:
            return found
        rule = self._names.get(level.name)
        if rule:
            return Hit(rule, "name", level, None)
        rule = self._paths.get(level.path)
        if rule:
            return Hit(rule, "path", level, None)
        rule = self._cut.get(level.name) if level.cut else None
        if rule:
            return Hit(rule, "name", level, None)
        by_name = self._first("name", level.name, level)
        by_path = self._first("path", level.path, level) if level.path else None
        if by_name and by_path:
            return min(by_name, by_path, key=lambda hit: self._order[id(hit.rule)])
        return by_name or by_path

    def _first(self, target: str, text: str, level: Level) -> Hit | None:
        ending = _script_ending(text) if target == "name" else ""
        for place in self._searchers[target].hits(text):
            rule = self._rules[target][place]
            whole = bool(ending)
            if whole and not rule.pattern.endswith(ending):
                continue
            holds, version = rule.confirm(target, text, whole=whole)
            if holds:
                return Hit(rule, target, level, version)
        return None


def _script_ending(name: str) -> str:
    """
    `.py` and the like: a script called after a program is not that program.
    """
    if not name.endswith(SCRIPTS):
        return ""
    return "." + name.rpartition(".")[2]


class Rules:
    """
    Ordered layers of rules; the first layer that knows a command names it.
    """

    def __init__(self, layers: Iterable[Sequence[Rule]], *, linear: bool = True) -> None:
        self.layers = tuple(tuple(layer) for layer in layers)
        self._layers = tuple(_Layer(layer, linear=linear) for layer in self.layers)
        texts = "\n".join(rule.text for layer in self.layers for rule in layer)
        self.version = hashlib.sha256(texts.encode()).hexdigest()[:12]
        # Several steps ask about the same command one after the other.
        self._just_asked = lru_cache(maxsize=16)(self._match)

    def __len__(self) -> int:
        return sum(len(layer) for layer in self.layers)

    def find(
        self, name: str | None, executable: str | None, command_line: str | None
    ) -> Hit | None:
        """
        The rule behind a command, and where it held; None when no rule names it.
        """
        for level in levels(name, executable, command_line):
            hit = self.find_level(level)
            if hit:
                return hit
        return None

    def find_level(self, level: Level) -> Hit | None:
        for layer in self._layers:
            hit = layer.find(level)
            if hit:
                return hit
        return None

    def match(self, name: str | None, executable: str | None, command_line: str | None) -> Match:
        return self._just_asked(name, executable, command_line)

    def _match(self, name: str | None, executable: str | None, command_line: str | None) -> Match:
        shape = command_shape(command_line or name)
        hit = self.find(name, executable, command_line)
        if hit is None:
            return Match(None, None, None, (), None, shape)
        rule = hit.rule
        version = rule.version or hit.version or _installed_version(hit, executable)
        return Match(rule.program, version, rule.path, rule.tags, rule.source, shape)


def _installed_version(hit: Hit, executable: str | None) -> str | None:
    rule = hit.rule
    names = [hit.level.name]
    if rule.program:
        names.append(rule.program.replace(" ", ""))
    if rule.path:
        names.append(rule.path.rpartition("/")[2])
    return version_in_path(hit.level.path or executable or "", names)


def read_rules(files: Sequence[Path] | None = None) -> Rules:
    """
    The rules of FILES, first file first, before those shipped with leadline.
    """
    return Rules(read_layers((*(files or ()), SHIPPED)))
