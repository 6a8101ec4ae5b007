"""The command line: one thin file per command, imported only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path

import click

from leadline.commands.context import Context
from leadline.errors import LeadlineError

# Every command: where it lives, and its one line in `leadline --help`.
COMMANDS: dict[str, tuple[str, str]] = {
    "sample": ("leadline.commands.sample", "Take one snapshot of this machine."),
    "ship": ("leadline.commands.ship", "Sample this machine and send, again and again."),
    "enrich": ("leadline.commands.enrich", "The worker: name what ran, hand it to the store."),
    "programs": ("leadline.commands.programs", "Rules: test, check, find gaps, apply anew."),
    "deadletters": ("leadline.commands.deadletters", "What no store would take, and why."),
    "usage": ("leadline.commands.usage", "Ask: any measure by any dimension, any period."),
    "job": ("leadline.commands.job", "What happened with a job: asked, used, advice."),
    "jobs": ("leadline.commands.jobs", "Runs of a period, one line each."),
    "findings": ("leadline.commands.findings", "What somebody should look at."),
    "allocations": ("leadline.commands.allocations", "Hours granted: used, left, projected."),
    "alerts": ("leadline.commands.alerts", "What fires, who hears of it; silence, try."),
    "report": ("leadline.commands.report", "A month's figures in one file; by mail."),
    "search": ("leadline.commands.search", "Find command lines by their words."),
    "identities": ("leadline.commands.identities", "Users, groups, groups of groups."),
    "backfill": ("leadline.commands.backfill", "Years of history from files others wrote."),
    "up": ("leadline.commands.up", "Start everything on this machine."),
    "serve": ("leadline.commands.serve", "Serve the pages and the API."),
    "address": ("leadline.commands.address", "An address that opens the pages once."),
    "accounts": ("leadline.commands.accounts", "Who may sign in to the pages."),
    "simulate": ("leadline.commands.simulate", "A fleet that never was, with the truth."),
    "setup": ("leadline.commands.setup", "Make OpenSearch or Elasticsearch ready."),
    "nodes": ("leadline.commands.nodes", "Nodes' states, availability, cards by model."),
    "chores": ("leadline.commands.chores", "Roll-ups and upkeep, each turn done once."),
    "retain": ("leadline.commands.retain", "Delete what is no longer kept."),
    "forget": ("leadline.commands.forget", "Take one person out of everything that is kept."),
    "size": ("leadline.commands.size", "How much disk, heap and shards a site needs."),
    "top": ("leadline.commands.top", "Who runs what where, live on the terminal."),
    "status": ("leadline.commands.status", "How the daemons are."),
    "doctor": ("leadline.commands.doctor", "What is in force here, and what is missing."),
}


class ReaderGoneError(Exception):
    """
    Nobody reads our output any more: click would end such a command with 1, as if it had failed.
    """


class LazyGroup(click.Group):
    """
    Lists commands without importing them, so that a node's shipper never loads the web.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(COMMANDS[name][0]), name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGoneError from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, or its folder.")
@click.option("--set", "overrides", multiple=True, metavar="NAME=VALUE", help="Override a setting.")
@click.option("--store", metavar="ADDRESS", help="lake:FOLDER, opensearch=URL or memory.")
@click.option("--cluster", metavar="NAME", help="Speak of this cluster only.")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="leadline")
@click.pass_context
def cli(
    ctx: click.Context,
    config: Path | None,
    overrides: tuple[str, ...],
    store: str | None,
    cluster: str | None,
    verbose: bool,
) -> None:
    """
    leadline: see what really runs on your clusters.

    \b
    Example:
        leadline usage --by program --period last-30-days
    """
    ctx.obj = Context(config, overrides, store, cluster, verbose)
    ctx.call_on_close(ctx.obj.close)


def main() -> None:
    """
    The one edge where exceptions become one line for people.
    """
    verbose = {"-v", "--verbose"} & set(sys.argv[1:])
    try:
        code = cli.main(prog_name="leadline", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except ReaderGoneError:
        # A reader such as `head` went away: not an error, and nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except LeadlineError as error:
        # Not at the top: a shipper shows nothing.
        from leadline.render import safe_text

        if verbose:
            traceback.print_exc()
        lines = "\n".join(map(safe_text, str(error).split("\n")))
        click.echo(f"leadline: {lines}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        if verbose:
            traceback.print_exc()
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"leadline: {where}{error.strerror or error}", err=True)
        sys.exit(1)
