"""
docs/reference/commands.md and settings.md, made from the commands and the settings' classes:
`python -m leadline.commands.reference` writes them, a test holds them.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from leadline.commands import COMMANDS, cli
from leadline.commands.sections import schema
from leadline.settings.typed import Duration, Size

ROOT = Path(__file__).resolve().parents[2]
MADE = "<!-- made by `python -m leadline.commands.reference` -->\n"
COMMENT = re.compile(r"^\s+(\w+)\s*:[^#\n]*?(?:#\s*(.*))?$")


def commands_page() -> str:
    parts = [
        MADE + "# Commands\n\nEvery command takes the options of `leadline` before its name.\n"
    ]
    parts.append(_help_of(cli, "leadline"))
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        parts.append(_help_of(command, f"leadline {name}"))
        if isinstance(command, click.Group):
            inner = command.commands.items()
            parts += [_help_of(sub, f"leadline {name} {word}") for word, sub in inner]
    return "\n".join(parts)


def _help_of(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, terminal_width=96, max_content_width=96)
    text = command.get_help(context).replace(str(Path.home()), "~")
    return f"## {name}\n\n```\n{text.rstrip()}\n```\n"


def settings_page() -> str:
    head = (
        MADE + "# Settings\n\nOne YAML file: `--config FILE`, `$LEADLINE_CONFIG`, "
        "`~/.config/leadline/leadline.yaml` or `/etc/leadline/leadline.yaml`; then `conf.d/*.yaml` "
        "beside it in order; then `--set section.name=value`. Durations are written `90s`, `5m`, "
        "`2h`, `30d`; sizes `64KiB`, `10MB`, `2GiB`. A setting nobody knows is refused with file "
        "and line. `leadline doctor` prints what differs from the defaults below.\n"
    )
    return "\n".join([head, *(_section(name, kind) for name, kind in schema().items())])


def _section(name: str, kind: Any) -> str:
    if typing.get_origin(kind) is dict:
        name, kind = f"{name}.NAME", typing.get_args(kind)[1]
    if not dataclasses.is_dataclass(kind):
        return f"## {name}\n\nNamed by what is plugged in.\n"
    rows = "\n".join(f"| {' | '.join(row)} |" for row in _rows(kind, ""))
    return (
        f"## {name}\n\n| Setting | Type | Default | Meaning |\n| --- | --- | --- | --- |\n{rows}\n"
    )


def _rows(kind: Any, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    hints = typing.get_type_hints(kind)
    meanings = _comments(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        name = f"{prefix}{field.name}"
        if dataclasses.is_dataclass(hint):
            yield from _rows(hint, f"{name}.")
            continue
        if typing.get_origin(hint) is tuple and dataclasses.is_dataclass(typing.get_args(hint)[0]):
            yield from _rows(typing.get_args(hint)[0], f"{name}[].")
            continue
        meaning = meanings.get(field.name, "").replace("|", "\\|")
        yield f"`{name}`", _type_name(hint), _default(field, hint), meaning


def _comments(kind: Any) -> dict[str, str]:
    """
    What stands behind each field in the class's source, or above it.
    """
    found: dict[str, str] = {}
    above = ""
    for line in inspect.getsource(kind).splitlines():
        if match := COMMENT.match(line):
            found[match[1]] = (match[2] or above).strip()
        above = f"{above} {line.strip(' #')}" if line.strip().startswith("#") else ""
    return found


def _type_name(hint: Any) -> str:
    if hint is Duration or hint is Size:
        return "duration" if hint is Duration else "size"
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return f"list of {_type_name(inner[0])}"
    if origin is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in inner)
    if origin is not None and type(None) in inner:
        return _type_name(inner[0])
    if origin is dict:
        return "`name: value` pairs"
    names = {str: "text", int: "whole number", float: "number", bool: "yes or no", Path: "path"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))


def _default(field: Any, hint: Any) -> str:
    if field.default_factory is not dataclasses.MISSING:
        value: Any = "" if hint is Path else field.default_factory()  # folders differ by machine
    else:
        value = field.default
    if value is dataclasses.MISSING:
        return "(must be set)"
    if hint is Duration:
        return f"`{_span(value)}`"
    if hint is Size:
        return f"`{_bytes(value)}`"
    if isinstance(value, bool):
        return "`yes`" if value else "`no`"
    if value is None or value == "" or value == () or value == {}:
        return "–"
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{text}`".replace("|", "\\|")


def _span(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{seconds:g}s"


def _bytes(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


METRICS = """# Metrics

For Prometheus, and by it for Grafana; without names of people. What was not measured is left
out, never 0.

## `/metrics` of the pages

What the store knows, asked for at most once in some seconds however many scrape it. Where pages
are guarded Prometheus shows a token of `web.tokens_file` that reads `metrics`, as a bearer.

{web}

## `/metrics` of the worker

Its own books since its first start; any token of a cluster opens it.

{worker}
"""


def metrics_page() -> str:
    from enrich.metrics import METRICS as WORKER
    from leadline.formats.exposition import table
    from leadline.web.pages.metrics import METRICS as WEB

    return f"{MADE}\n{METRICS.format(web=table(WEB), worker=table(WORKER))}"


def pages() -> dict[str, str]:
    return {
        "docs/reference/commands.md": commands_page(),
        "docs/reference/settings.md": settings_page(),
        "docs/reference/metrics.md": metrics_page(),
    }


def main() -> int:
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
