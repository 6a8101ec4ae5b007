"""
Files made from the definitions here: `python -m leadline.formats.generate` writes them,
`--check` only says which are out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from leadline.formats.patterns import pattern_files
from leadline.formats.reference import fields_page
from leadline.formats.templates import template_files

ROOT = Path(__file__).resolve().parents[2]

# Every generator: gives the text of each file it owns, by path below the project's root.
GENERATORS: list[Callable[[], dict[str, str]]] = [
    lambda: {"docs/reference/fields.md": fields_page()},
    template_files,
    pattern_files,
]


def generated() -> dict[str, str]:
    files: dict[str, str] = {}
    for generator in GENERATORS:
        files.update(generator())
    return files


def stale(root: Path = ROOT) -> list[str]:
    """
    Generated files that are missing or differ from what would be written now.
    """

    def differs(name: str, text: str) -> bool:
        path = root / name
        return not path.exists() or path.read_text(encoding="utf-8") != text

    return [name for name, text in generated().items() if differs(name, text)]


def main() -> int:
    names = stale()
    if "--check" in sys.argv:
        print("\n".join(names) or "all generated files are up to date")
        return bool(names)
    for name, text in generated().items():
        if name in names:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
