"""The import table of docs/ARCHITECTURE.md: rooms import downwards only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

BASE = {"leadline.errors", "leadline.formats", "leadline.spool", "leadline.settings"}
STORE = BASE | {"leadline.store"}
QUERY = STORE | {"leadline.query"}
MIDDLE = QUERY | {"leadline.reports", "leadline.alerts", "leadline.chores", "leadline.render"}
MIDDLE |= {"leadline.language"}

# Room → the rooms it may import, itself aside.
MAY_IMPORT: dict[str, set[str]] = {
    "leadline.errors": set(),
    "leadline.formats": {"leadline.errors"},
    "leadline.spool": {"leadline.errors", "leadline.formats", "leadline.settings"},
    "leadline.settings": {"leadline.errors"},
    "shipper": BASE,
    "enrich": STORE,
    "leadline.store": BASE - {"leadline.spool"},
    "leadline.query": STORE - {"leadline.spool"},
    "leadline.language": set(),
    "leadline.render": {"leadline.errors", "leadline.formats", "leadline.language"},
    "leadline.simulate": {"leadline.errors", "leadline.formats"},
    "leadline.reports": QUERY | {"leadline.render", "leadline.language"},
    "leadline.chores": QUERY | {"leadline.reports", "leadline.alerts"},
    "leadline.alerts": QUERY | {"leadline.reports", "leadline.render"},
    "leadline.web": MIDDLE,
    "leadline.top": {"leadline.errors", "leadline.render", "leadline.settings"},
    "leadline.commands": MIDDLE
    | {"leadline.web", "leadline.top", "leadline.simulate", "shipper", "enrich", "kibana"},
    "index_templates": set(),
    "kibana": {"leadline.errors", "leadline.formats", "leadline.render"},
}

# What the core install has: a node imports nothing else at the top of a module.
CORE = {"click", "orjson", "psutil", "yaml", "tzdata"}


def room_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] == "leadline":
        return ".".join(parts[:2]) if len(parts) > 1 else "leadline"
    return parts[0] if parts[0] in MAY_IMPORT else None


def modules() -> list[Path]:
    folders = ("leadline", "shipper", "enrich", "index_templates", "kibana")
    return [path for name in folders for path in sorted((ROOT / name).rglob("*.py"))]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            if node.module == "leadline":
                found += [f"leadline.{alias.name}" for alias in node.names]
    return found


def test_every_room_is_in_the_table() -> None:
    """
    A new room declares what it may import.
    """
    rooms = {room_of(name_of(path)) for path in modules()} - {None, "leadline"}
    assert rooms <= set(MAY_IMPORT), rooms - set(MAY_IMPORT)
    assert len(modules()) > 30


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_go_downwards(path: Path) -> None:
    """
    No module imports a room above its own.
    """
    room = room_of(name_of(path))
    assert room is not None
    allowed = MAY_IMPORT.get(room, set()) | {room, "leadline"}
    used = {found for name in imports(path) if (found := room_of(name))}
    assert used <= allowed, f"{name_of(path)} imports {sorted(used - allowed)}"


def top_level_imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def node_modules() -> list[Path]:
    rooms = ("shipper", "leadline.formats", "leadline.spool", "leadline.settings")
    return [path for path in modules() if room_of(name_of(path)) in rooms]


@pytest.mark.parametrize("path", node_modules(), ids=name_of)
def test_a_node_needs_only_the_core(path: Path) -> None:
    """
    What runs on every node imports nothing at its top that the core install lacks.
    """
    import sys

    ours = {"leadline", "shipper"}
    others = top_level_imports(path) - set(sys.stdlib_module_names) - CORE - ours
    assert set() == others
