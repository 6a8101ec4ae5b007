"""
Plug-ins: steps, readers, sinks, notifiers and collectors that are no part of leadline.

A plug-in is a module with the same `build` as the built-in ones of its kind. It lies in the folder
the settings name, as `steps/NAME.py`, or is installed with an entry point of the group
`leadline.steps`. Rooms ask `plugged` beside their own table.
"""

from __future__ import annotations

import importlib.util
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from leadline.errors import SettingsError
from leadline.settings.read import Place, Tree
from leadline.settings.typed import build

T = TypeVar("T")

KINDS = ("steps", "readers", "sinks", "notifiers", "collectors")


@dataclass(frozen=True)
class PluginSettings:
    folder: Path | None = None  # holds steps/NAME.py, sinks/NAME.py …
    installed: bool = False  # take those that packages bring along as well
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # by the plug-in's name


@dataclass(frozen=True, slots=True)
class Plugin:
    module: Any
    place: str  # a file or an entry point, for error lines


_plugged: dict[str, dict[str, Plugin]] = {kind: {} for kind in KINDS}
_options: dict[str, dict[str, str]] = {}


def plugged(kind: str) -> dict[str, Any]:
    """
    The modules of a kind by name, as the built-in tables hold them.
    """
    return {name: plugin.module for name, plugin in _plugged[kind].items()}


def options_of(name: str, kind: type[T]) -> T:
    """
    What the settings say to the plug-in NAME under plugins.options, checked by its dataclass.
    """
    place = f"plugins.options.{name}"
    given = {key: Tree(Place(place), value) for key, value in _options.get(name, {}).items()}
    made = build(kind, Tree(Place(place), given), place)
    assert isinstance(made, kind)
    return made


def install(settings: PluginSettings, taken: Callable[[str], Collection[str]]) -> None:
    """
    Load all plug-ins; `taken` tells the built-in names of a kind. Raises SettingsError.
    """
    forget()
    found = [*_in_folder(settings.folder)] if settings.folder else []
    if settings.installed:
        found += _installed()
    for kind, name, plugin in found:
        other = _plugged[kind].get(name)
        if other is not None:
            way_out = "rename one of them"
            raise SettingsError(f"{plugin.place}: {name!r} is also {other.place}; {way_out}")
        if name in taken(kind):
            what = f"the name {name!r} is taken by a built-in of {kind}"
            raise SettingsError(f"{plugin.place}: {what}; rename the plug-in")
        if not callable(getattr(plugin.module, "build", None)):
            way_out = f"docs/plugins.md shows what {kind} need"
            raise SettingsError(f"{plugin.place}: it has no function build; {way_out}")
        _plugged[kind][name] = plugin
    _options.update(settings.options)


def forget() -> None:
    for table in _plugged.values():
        table.clear()
    _options.clear()


def listed() -> Mapping[str, Mapping[str, str]]:
    """
    Where each plug-in in force comes from, by kind and name.
    """
    return {kind: {n: p.place for n, p in table.items()} for kind, table in _plugged.items()}


def _in_folder(folder: Path) -> Iterator[tuple[str, str, Plugin]]:
    if not folder.is_dir():
        raise SettingsError(f"plugins.folder: {folder} is no folder; make it, or leave it out")
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        if inner.name.startswith((".", "_")):
            continue
        if inner.name not in KINDS:
            raise SettingsError(f"{inner}: no kind of plug-in; they are {', '.join(KINDS)}")
        for path in sorted(inner.glob("*.py")):
            if not path.name.startswith("_"):
                module = _from_file(path, f"leadline_plugins.{inner.name}.{path.stem}")
                yield inner.name, path.stem, Plugin(module, str(path))


def _from_file(path: Path, name: str) -> Any:
    if path.stat().st_mode & stat.S_IWOTH:
        raise SettingsError(f"{path}: anybody may write to it; chmod o-w, it is run as you")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a stranger's module may raise
        del sys.modules[name]
        raise SettingsError(f"{path}: {type(error).__name__}: {error}") from error
    return module


def _installed() -> Iterator[tuple[str, str, Plugin]]:
    # Not at the top: it would cost every node's shipper 3 MB.
    from importlib.metadata import entry_points

    for kind in KINDS:
        for entry in entry_points(group=f"leadline.{kind}"):
            try:
                module = entry.load()
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                raise SettingsError(f"plug-in {entry.value}: {what}; remove its package") from error
            yield kind, entry.name, Plugin(module, f"entry point {entry.value}")
