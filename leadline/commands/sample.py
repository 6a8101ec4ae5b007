"""`leadline sample`: one snapshot of this machine on stdout or at the end of a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO

import click

from leadline.commands.context import Context, with_context
from leadline.formats import Document
from shipper.lock import OneAtATime
from shipper.settings import CollectSettings
from shipper.snapshot import Snapshots
from shipper.system import System
from shipper.writers import NDJSON, TSV, Writer

WRITERS: dict[str, type[Writer]] = {"ndjson": NDJSON, "tsv": TSV}


@click.command()
@click.option("--format", "form", type=click.Choice(list(WRITERS)), default="ndjson")
@click.option("--append", type=click.Path(path_type=Path), metavar="FILE", help="Append to FILE.")
@click.option(
    "--slurm",
    type=click.Choice(["auto", "yes", "no"]),
    help="Job ids from Slurm: where it is, always, never.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Remember counters here, so that the next run tells what was used in between.",
)
@click.option(
    "--over",
    type=click.FloatRange(0, 3600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Without counters of an earlier run, look twice this far apart; 0: look once.",
)
@click.option(
    "--collectors", metavar="A,B", help="Only these collectors, instead of the settings'."
)
@with_context
def sample(
    context: Context,
    form: str,
    append: Path | None,
    slurm: str | None,
    state: Path | None,
    over: float,
    collectors: str | None,
) -> None:
    """
    Take one snapshot of this machine and print it.

    From cron, keep --state: what each run sends is then what was used since the run before. While
    one run is still at work, the next one ends without a word.

    \b
    Example:
        leadline sample --format tsv
        leadline sample --state /var/lib/leadline/state --append /var/log/leadline.ndjson
    """
    settings = context.settings.get("collect", CollectSettings)
    if slurm:
        settings = replace(settings, slurm=slurm)  # type: ignore[arg-type]
    if collectors:
        names = tuple(name.strip() for name in collectors.split(",") if name.strip())
        try:
            settings = replace(settings, collectors=names)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    if context.cluster:
        settings = replace(settings, cluster=context.cluster)
    with OneAtATime(state) as mine:
        if mine:
            documents = look(settings, System(), state, over)
            write(documents, WRITERS[form](), append)


def look(
    settings: CollectSettings, system: System, state: Path | None, over: float
) -> list[Document]:
    """
    One snapshot; two, OVER seconds apart, when there is nothing yet to take differences against.
    """
    snapshots = Snapshots(settings, system, state)
    try:
        if snapshots.is_first and over > 0:
            snapshots.take()
            system.sleep(over)
        return snapshots.take()
    finally:
        snapshots.close()


def write(documents: Iterable[Document], writer: Writer, append: Path | None) -> None:
    lines = b"".join(writer.lines(documents))
    if append is None:
        sys.stdout.buffer.write(writer.head() + lines)
        sys.stdout.buffer.flush()
        return
    with append.open("ab") as file:
        put(file, writer, lines)


def put(file: IO[bytes], writer: Writer, lines: bytes) -> None:
    """
    All in one write, so that runs which share the file never mix their lines.
    """
    head = writer.head() if file.tell() == 0 else b""
    file.write(head + lines)
    file.flush()
    os.fsync(file.fileno())
