"""
What commands that answer share: a picture in a file, a sign of life while a question takes long.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TextIO

import click

from leadline.commands.context import Context
from leadline.errors import QuestionError
from leadline.query import Filter, Period
from leadline.query.rejected import rejected_in
from leadline.query.sure import Sure, how_sure
from leadline.render import Table, paragraphs, render
from leadline.reports.answers import sure_lines

BARE = ("csv", "tsv", "ndjson")  # rows alone: how sure they are goes to the standard error
PICTURES = (".svg", ".png")
PATIENCE = 2.0  # seconds before a bar is drawn
WIDTH = 20


class PictureFile(click.ParamType):  # type: ignore[type-arg]
    """
    A file whose name says how it is drawn.
    """

    name = "FILE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        path = Path(str(value))
        if path.suffix.lower() not in PICTURES:
            self.fail(f"{path}: name it .svg or .png", param, ctx)
        return path


def one_of(**asked: object) -> None:
    """
    Refuse options of which each is an answer of its own, rather than give one and forget another.
    """
    given = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value]
    if len(given) > 1:
        raise QuestionError(f"{' and '.join(given)}: ask for one at a time")


def bare(table: Table, form: str) -> None:
    """
    TABLE as rows alone, for programs; what its figures are counted in goes to the standard error.
    """
    click.echo(render(table, form))
    units: dict[str, list[str]] = {}
    for column in table.columns:
        if column.unit and column.unit not in ("ratio", column.name):
            units.setdefault(column.unit, []).append(column.name)
    if units and form in BARE:
        told = "; ".join(f"{', '.join(names)} in {unit}" for unit, names in units.items())
        click.echo(f"Units: {told}.", err=True)


def listed(table: Table, form: str) -> None:
    """
    TABLE as people read it, fit to their terminal, or as rows alone.
    """
    if form in BARE:
        bare(table, form)
    else:
        click.echo(render(table, form, width=shutil.get_terminal_size((160, 24)).columns))


def sure_of(context: Context, where: Sequence[Filter], period: Period, now: datetime) -> Sure:
    rejected = rejected_in(context.paths.dead_letters)
    with waiting("looking how sure that is"):
        return how_sure(where, period, context.store, now, rejected)


def tell_sure(known: Sure, form: str) -> None:
    """
    What a list rests on, below it for people, on the standard error for programs.
    """
    told, people = sure_lines(known), form in ("table", "markdown")
    click.echo(prose(["", *told]) if people else "\n".join(told), err=not people)


def prose(lines: Sequence[str]) -> str:
    """
    Sentences broken where the terminal ends, and nowhere on their way into a file.
    """
    return paragraphs(lines, shutil.get_terminal_size((0, 24)).columns)


def write_picture(spec: dict[str, object] | None, path: Path) -> None:
    """
    SPEC as the kind of picture that PATH's name says.
    """
    # Not at the top: most answers need no picture.
    from leadline.render.charts import draw_file, draw_png

    if spec is None:
        raise QuestionError(f"{path}: nothing to draw; ask `by` something, or over a longer period")
    if path.suffix.lower() == ".svg":
        path.write_text(draw_file(spec), encoding="utf-8")
    else:
        path.write_bytes(draw_png(spec))


@contextmanager
def waiting(
    what: str, out: TextIO | None = None, *, patience: float | None = None
) -> Iterator[None]:
    """
    A bar that moves while the work lasts longer than PATIENCE, on a terminal and nowhere else.
    """
    stream = out or sys.stderr
    patience = PATIENCE if patience is None else patience
    if not stream.isatty():
        yield
        return
    over = threading.Event()
    drawer = threading.Thread(target=_draw, args=(what, stream, patience, over), daemon=True)
    drawer.start()
    try:
        yield
    finally:
        over.set()
        drawer.join()


def _draw(what: str, stream: TextIO, patience: float, over: threading.Event) -> None:
    begun = time.monotonic()
    if over.wait(patience):
        return
    step, drawn = 0, ""
    while not step or not over.wait(0.2):
        place = step % (2 * WIDTH)
        at = place if place < WIDTH else 2 * WIDTH - place - 1
        track = "".join("█" if abs(cell - at) < 2 else "░" for cell in range(WIDTH))
        drawn = f"{what} {track} {time.monotonic() - begun:.0f} s"
        stream.write(f"\r{drawn}")
        stream.flush()
        step += 1
    stream.write("\r" + " " * len(drawn) + "\r")
    stream.flush()
