"""
Settings trees as frozen dataclasses: every value typed, every stranger refused by name and place.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, NewType

from leadline.errors import SettingsError
from leadline.settings.read import Tree

Duration = NewType("Duration", float)  # seconds; written 90, 90s, 5m, 2h, 30d, 4w, 1y
Size = NewType("Size", int)  # bytes; written 5000, 64KiB, 10MB, 2GiB

_DURATIONS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_DURATIONS |= {"w": 604800, "y": 31557600}
_SIZES = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_SIZES |= {"kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4}
_SIZES |= {"kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4}


def build(kind: Any, tree: Tree, name: str) -> Any:
    """
    TREE as a value of type KIND; NAME is what error messages call it.
    """
    if dataclasses.is_dataclass(kind):
        return _record(kind, tree, name)
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _optional(kind, tree, name)
    if origin is tuple:
        return _several(kind, tree, name)
    if origin is dict:
        return _named(kind, tree, name)
    if origin is typing.Literal:
        return _choice(typing.get_args(kind), tree, name)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(_choice(tuple(member.value for member in kind), tree, name))
    return _scalar(kind, tree, name)


def _record(kind: Any, tree: Tree, name: str) -> Any:
    given = {} if tree.value is None else tree.value
    if not isinstance(given, dict):
        raise SettingsError(f"{tree.place}: {name}: wants `name: value` pairs")
    hints = typing.get_type_hints(kind)
    known = {f.name: hints[f.name] for f in dataclasses.fields(kind) if f.init}
    for key, inner in given.items():
        if key not in known:
            raise SettingsError(
                f"{inner.place}: unknown setting {_dotted(name, key)}{near(key, known)}"
            )
    values = {k: build(known[k], inner, _dotted(name, k)) for k, inner in given.items()}
    for field in dataclasses.fields(kind):
        required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        if required and field.name not in values:
            raise SettingsError(f"{tree.place}: {_dotted(name, field.name)}: missing")
    try:
        return kind(**values)
    except ValueError as error:  # a class may check its values in __post_init__
        raise SettingsError(f"{tree.place}: {name}: {error}") from None


def near(key: str, known: typing.Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(key, names, 1, 0.5)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known here: {', '.join(sorted(names))}" if names else ""


def _dotted(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _optional(kind: Any, tree: Tree, name: str) -> Any:
    if tree.value is None or tree.value == "":
        return None
    inner = [arg for arg in typing.get_args(kind) if arg is not type(None)]
    return build(inner[0], tree, name)


def _several(kind: Any, tree: Tree, name: str) -> Any:
    item = typing.get_args(kind)[0]
    if tree.value is None:
        return ()
    if isinstance(tree.value, str):  # one value stands for a list of one; commas separate
        parts = [part.strip() for part in tree.value.split(",") if part.strip()]
        return tuple(build(item, Tree(tree.place, part), name) for part in parts)
    if not isinstance(tree.value, list):
        raise SettingsError(f"{tree.place}: {name}: wants a list")
    return tuple(build(item, inner, f"{name}[{n}]") for n, inner in enumerate(tree.value))


def _named(kind: Any, tree: Tree, name: str) -> Any:
    item = typing.get_args(kind)[1]
    if tree.value is None:
        return {}
    if not isinstance(tree.value, dict):
        raise SettingsError(f"{tree.place}: {name}: wants `name: value` pairs")
    return {key: build(item, inner, _dotted(name, key)) for key, inner in tree.value.items()}


def _choice(choices: tuple[Any, ...], tree: Tree, name: str) -> Any:
    if tree.value not in choices:
        listed = ", ".join(map(str, choices))
        raise SettingsError(f"{tree.place}: {name}: {tree.value!r} is none of {listed}")
    return tree.value


def _scalar(kind: Any, tree: Tree, name: str) -> Any:
    text = tree.value
    if text is None and kind is str:
        return ""
    if not isinstance(text, str):
        dotted = "; put a name that has a dot in quotes" if isinstance(text, dict) else ""
        raise SettingsError(f"{tree.place}: {name}: wants one value{dotted}")
    reader = _SCALARS.get(kind)
    if reader is None:
        raise TypeError(f"settings field {name} has a type nobody reads: {kind}")
    try:
        return reader(text.strip())
    except ValueError as error:
        raise SettingsError(f"{tree.place}: {name}: {error}") from None


def _boolean(text: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    if text.lower() not in words:
        raise ValueError(f"{text!r} is neither yes nor no")
    return words[text.lower()]


def _integer(text: str) -> int:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _with_unit(units: dict[str, float], example: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([A-Za-z]*)", text)
        if not match or match[2].lower() not in units:
            raise ValueError(f"{text!r} is not understood; write it like {example}")
        return float(match[1]) * units[match[2].lower()]

    return read


parse_duration = _with_unit(_DURATIONS, "90s, 5m, 2h or 30d")
parse_size = _with_unit(dict(_SIZES), "64KiB, 10MB or 2GiB")

_SCALARS: dict[Any, Callable[[str], Any]] = {
    str: str,
    bool: _boolean,
    int: _integer,
    float: _float,
    Path: lambda text: Path(text).expanduser(),
    Duration: lambda text: Duration(parse_duration(text)),
    Size: lambda text: Size(int(parse_size(text))),
}
