"""
YAML as a tree that remembers where each value stood.

Scalars stay text (YAML would turn `no` into False and 22:00 into 1320); the schema types them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from leadline.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Place:
    """
    Where a value was written: a file's line, or a command-line override.
    """

    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.source} line {self.line}" if self.line else self.source


@dataclass(slots=True)
class Tree:
    """
    A value with its place: text, a list of trees, or a mapping of names to trees.
    """

    place: Place
    value: str | list[Tree] | dict[str, Tree] | None


def read_file(path: Path) -> Tree:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SettingsError(f"{path} line {line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if node is None:
        return Tree(Place(str(path), 1), {})
    tree = _tree(node, str(path))
    if not isinstance(tree.value, dict):
        raise SettingsError(f"{tree.place}: settings are `name: value` pairs")
    return tree


def _tree(node: yaml.Node, source: str, depth: int = 0) -> Tree:
    place = Place(source, node.start_mark.line + 1)
    if depth > 20:
        raise SettingsError(f"{place}: nested too deep")
    if isinstance(node, yaml.SequenceNode):
        return Tree(place, [_tree(item, source, depth + 1) for item in node.value])
    if isinstance(node, yaml.MappingNode):
        return Tree(place, _mapping(node, source, depth))
    if node.tag == "tag:yaml.org,2002:null":
        return Tree(place, None)
    return Tree(place, str(node.value))


def _mapping(node: yaml.MappingNode, source: str, depth: int) -> dict[str, Tree]:
    tree: dict[str, Tree] = {}
    for key, value in node.value:
        place = Place(source, key.start_mark.line + 1)
        branch = Tree(place, {})
        _graft(branch, _names(key), _tree(value, source, depth + 1), place)
        assert isinstance(branch.value, dict)
        for name, inner in branch.value.items():
            if name in tree and not _both_mappings(tree[name], inner):
                raise SettingsError(f"{place}: {name} is set twice, first at {tree[name].place}")
            tree[name] = merge(tree[name], inner) if name in tree else inner
    return tree


def _names(key: yaml.Node) -> list[str]:
    """
    Dots nest, but in quotes they belong to a name that people gave: "2026.1".
    """
    quoted = isinstance(key, yaml.ScalarNode) and key.style in ("'", '"')
    return [str(key.value)] if quoted else str(key.value).split(".")


def _both_mappings(one: Tree, other: Tree) -> bool:
    return isinstance(one.value, dict) and isinstance(other.value, dict)


def _graft(root: Tree, names: list[str], leaf: Tree, place: Place) -> None:
    """
    Put LEAF under ROOT at a.b.c: dots in a key nest, as Filebeat's users expect.
    """
    at = root
    for name in names[:-1]:
        assert isinstance(at.value, dict)
        at = at.value.setdefault(name, Tree(place, {}))
    assert isinstance(at.value, dict)
    at.value[names[-1]] = leaf


def read_override(text: str) -> Tree:
    """
    `worker.bulk_max_size=500`, as given to --set. The value may be YAML: `[a, b]`.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise SettingsError(f"--set {text}: write it as section.name=value")
    place = Place(f"--set {text}")
    root = Tree(place, {})
    try:
        node = yaml.compose(value, Loader=yaml.SafeLoader) if value.strip() else None
        leaf = _tree(node, f"--set {text}") if node is not None else Tree(place, "")
    except yaml.YAMLError:
        leaf = Tree(place, value)
    _place_all(leaf, place)
    _graft(root, name.strip().split("."), leaf, place)
    return root


def _place_all(tree: Tree, place: Place) -> None:
    tree.place = place
    if isinstance(tree.value, dict):
        inner = list(tree.value.values())
    else:
        inner = tree.value if isinstance(tree.value, list) else []
    for item in inner:
        _place_all(item, place)


def merge(base: Tree, over: Tree) -> Tree:
    """
    OVER wins; mappings are merged name by name, lists are replaced whole.
    """
    if not (isinstance(base.value, dict) and isinstance(over.value, dict)):
        return over
    names = {**base.value}
    for name, inner in over.value.items():
        names[name] = merge(names[name], inner) if name in names else inner
    return Tree(base.place, names)
