"""`leadline deadletters`: what no store would take, why, and another try."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import asdict
from itertools import groupby

import click
import orjson

from enrich.chain import build_chain
from enrich.counters import Tally
from enrich.deadletters import DeadLetter, DeadLetters
from enrich.delivery import Delivery
from enrich.run_days import days_by
from enrich.settings import EnrichSettings, WorkerSettings
from leadline.commands.context import Context, with_context
from leadline.commands.enrich import FILE_TRIES, step_context
from leadline.render import safe_text

WIDTH = 160


@click.group()
def deadletters() -> None:
    """
    Documents that no store would take: list them, or try them again.

    \b
    Examples:
        leadline deadletters list
        leadline deadletters replay
    """


@deadletters.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, inputs whole.")
@click.option("--reasons", is_flag=True, help="Only how many there are of each reason.")
@with_context
def list_(context: Context, as_json: bool, reasons: bool) -> None:
    """
    Show each with its time, source and reason.

    \b
    Example:
        leadline deadletters list --reasons
    """
    letters = DeadLetters(context.paths.dead_letters).read()
    if reasons:
        for reason, count in Counter(letter.reason for letter in letters).most_common():
            click.echo(f"{count:>8}  {safe_text(reason)}")
        return
    for letter in letters:
        click.echo(orjson.dumps(asdict(letter)).decode() if as_json else _line(letter))


@deadletters.command()
@with_context
def replay(context: Context) -> None:
    """
    Send every dead letter through the chain again; what fails again is kept again.

    \b
    Example:
        leadline deadletters replay
    """
    letters = DeadLetters(context.paths.dead_letters)
    settings = context.settings.get("enrich", EnrichSettings)
    steps = step_context(context)
    delivery = Delivery(
        store=context.own_store,
        chain=build_chain(steps, settings),
        letters=letters,
        backoff=context.settings.get("worker", WorkerSettings).backoff,
        wait=threading.Event().wait,
        notice=lambda text: click.echo(f"leadline: {text}", err=True),
        tries=FILE_TRIES,
        days=days_by(steps.zone),
    )
    total = Tally()

    def take(again: list[DeadLetter]) -> None:
        nonlocal total
        by_source = groupby(again, lambda letter: letter.source)
        for source, of_source in by_source:
            total += delivery.lines([letter.input.encode() for letter in of_source], source)

    count = letters.replay(take)
    click.echo(
        f"replayed {count}  accepted {total.stored}  duplicate {total.duplicate}"
        f"  rejected again {total.dead_lettered}"
    )


def _line(letter: DeadLetter) -> str:
    shown = letter.input if len(letter.input) <= WIDTH else f"{letter.input[: WIDTH - 1]}…"
    head = f"{letter.time}  {letter.source}  {letter.reason}"
    return f"{safe_text(head)}\n    {safe_text(shown)}"
