"""
Where settings come from, in order: one YAML file, conf.d beside it, --set on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from leadline.errors import SettingsError
from leadline.settings.read import Place, Tree, merge, read_file, read_override
from leadline.settings.typed import build, near

T = TypeVar("T")


class Sections(Mapping[str, object]):
    """
    What the files say is checked at once, by the class of its section; a section nobody wrote is
    made of its defaults when it is asked for.
    """

    def __init__(self, schema: Mapping[str, Any], given: Mapping[str, Tree]) -> None:
        self._schema = schema
        self._made = {name: build(schema[name], tree, name) for name, tree in given.items()}

    def __getitem__(self, name: str) -> object:
        if name not in self._made:
            self._made[name] = build(self._schema[name], Tree(Place("settings"), {}), name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)


@dataclass(frozen=True, slots=True)
class Settings:
    """
    Every section, typed and checked, and the files they came from.
    """

    sections: Mapping[str, object]
    files: tuple[Path, ...]

    def get(self, name: str, kind: type[T]) -> T:
        section = self.sections[name]
        assert isinstance(section, kind)
        return section


def places() -> list[Path]:
    """
    Where a settings file is looked for when none is named; the first that exists is taken.
    """
    config_home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return [Path(config_home) / "leadline" / "leadline.yaml", Path("/etc/leadline/leadline.yaml")]


def find_files(named: Path | None) -> list[Path]:
    named = named or (Path(env) if (env := os.environ.get("LEADLINE_CONFIG")) else None)
    if named is None:
        main = next((path for path in places() if path.is_file()), None)
    elif named.is_dir():
        main = named / "leadline.yaml"
    else:
        main = named
        if not main.exists():
            raise SettingsError(
                f"{main}: no such settings file; `leadline doctor` lists the places"
            )
    if main is None:
        return []
    found = [main] if main.exists() else []
    return found + sorted((main.parent / "conf.d").glob("*.yaml"))


def load_section(
    name: str, kind: type[T], *, file: Path | None = None, overrides: Sequence[str] = ()
) -> T:
    """
    One section alone, whatever the others hold: what must be known before the rest is checked.
    """
    tree = _merged(find_files(file), overrides)
    made = build(kind, tree.get(name, Tree(Place("settings"), {})), name)
    assert isinstance(made, kind)
    return made


def _merged(files: Sequence[Path], overrides: Sequence[str]) -> dict[str, Tree]:
    tree = Tree(Place("settings"), {})
    for path in files:
        tree = merge(tree, read_file(path))
    for text in overrides:
        tree = merge(tree, read_override(text))
    assert isinstance(tree.value, dict)
    return tree.value


def load_part(
    schema: Mapping[str, Any], *, file: Path | None = None, overrides: Sequence[str] = ()
) -> Settings:
    """
    Only what SCHEMA names, whatever else the files hold: for who knows no other section.
    """
    files = find_files(file)
    tree = _merged(files, overrides)
    given = {name: inner for name, inner in tree.items() if name in schema}
    return Settings(Sections(schema, given), tuple(files))


def load(
    schema: Mapping[str, Any],
    *,
    file: Path | None = None,
    overrides: Sequence[str] = (),
) -> Settings:
    """
    Settings by SCHEMA (section name → dataclass, or dict[str, dataclass]).
    """
    files = find_files(file)
    tree = _merged(files, overrides)
    for name, inner in tree.items():
        if name not in schema:
            raise SettingsError(f"{inner.place}: unknown section {name}{near(name, schema)}")
    return Settings(Sections(schema, tree), tuple(files))
