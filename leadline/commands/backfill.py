"""`leadline backfill`: history from files that others wrote."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from leadline.commands.context import Context, with_context
from leadline.errors import FormatError, SettingsError
from leadline.formats.times import parse_time
from leadline.settings.zones import cluster_zone

if TYPE_CHECKING:
    from enrich.chain import Chain


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option("--cluster", metavar="NAME", help="The cluster these records are of.")
@click.option("--timezone", metavar="ZONE", help="The zone its files are written in.")
@click.option("--since", metavar="TIME", help="Only runs that ended from then on: 2024-01-31.")
@click.option("--until", metavar="TIME", help="Only runs that ended before.")
@click.option("--dry-run", is_flag=True, help="Count, and store nothing.")
@click.option("--whole", is_flag=True, help="Read files from their start, known or not.")
@click.option("--follow", is_flag=True, help="Go on reading what is added to FILE.")
@click.option("--live", is_flag=True, help="sacct only: ask Slurm itself, window by window.")
@click.option(
    "--rejects",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where refused lines go; mended, it can be read like any other.",
)
@with_context
def backfill(
    context: Context,
    format_name: str,
    files: tuple[str, ...],
    cluster: str | None,
    timezone: str | None,
    since: str | None,
    until: str | None,
    dry_run: bool,
    whole: bool,
    follow: bool,
    live: bool,
    rejects: Path | None,
) -> None:
    """
    Read history: sge (Grid Engine's accounting), sacct (-P or --json), sonar, ndjson, tsv, or
    auto (whichever it is). All but ndjson need --cluster.

    FILE is plain, .gz, .zst or .xz; a folder, a pattern, or - for standard input. A file that was
    read before costs only what was added to it, and reading one twice changes nothing.

    With --live there is no FILE: the real sacct is asked, from where the last call ended or from
    --since on, never for much at once; --follow asks again each minute.

    \b
    Examples:
        leadline backfill sge --cluster fox /var/lib/gridengine/default/common/accounting
        leadline backfill sge --cluster fox --follow '/opt/sge/default/common/accounting*'
        leadline backfill auto --cluster fox --since 2020-01-01 old/*.gz
        leadline backfill sacct --cluster fox --live --follow
    """
    try:
        from enrich.backfill.files import find_files
        from enrich.backfill.options import LATEST, Options
    except ImportError as error:
        raise SettingsError(
            f"backfill needs {error.name}: pip install 'leadline[server]'"
        ) from None
    if live == bool(files) or (live and format_name != "sacct"):
        raise click.UsageError("give FILEs, or sacct and --live: Slurm itself is asked then")
    name = cluster or context.cluster
    if not name and format_name != "ndjson":  # our own documents say it themselves
        raise click.UsageError("--cluster NAME is needed: the records do not say whose they are")
    zone = _zone(timezone) if timezone else cluster_zone(context.clusters, name)
    options = Options(
        cluster=_canonical(context, name) if name else "",
        zone=zone,
        calendar=_calendar(context, name),
        since=_moment(since, zone) if since else 0,
        until=_moment(until, zone) if until else LATEST,
        whole=not follow,
        chain=lambda: _chain(context, name),
    )
    run = Run(context, format_name, options, dry_run=dry_run, whole=whole, rejects=rejects)
    with run:
        look = run.ask if live else lambda: run.read(find_files(files))
        look()
        while follow:
            if live:
                run.complain()
            run.failed.clear()  # a file that is empty now may not stay so
            time.sleep(60 if live else 1)
            look()
        run.report()


class Run:
    """
    One import: the readers of the formats that turn up, and what they counted.
    """

    def __init__(
        self,
        context: Context,
        format_name: str,
        options: object,
        *,
        dry_run: bool,
        whole: bool,
        rejects: Path | None,
    ) -> None:
        from enrich.backfill.options import Options
        from enrich.backfill.readers import Reader
        from enrich.backfill.sink import DrySink, LakeSink, Sink, StoreSink
        from enrich.backfill.tally import Rejects
        from leadline.store.lake import LakeStore

        assert isinstance(options, Options)
        self.options = options
        self.format_name = format_name
        self._stack = ExitStack()
        self.staging = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.memory: Path | None = None
        self.sink: Sink = DrySink()
        if not dry_run:
            store = context.own_store
            lake = isinstance(store, LakeStore)
            self.sink = LakeSink(store) if isinstance(store, LakeStore) else StoreSink(store)
            if isinstance(store, LakeStore):
                self.staging = store.staging
            folder = store.folder if isinstance(store, LakeStore) else context.paths.state
            mark = "" if lake else hashlib.sha256(context.store_address.encode()).hexdigest()[:12]
            self.memory = folder / f".backfill{mark}"
        self.known = not whole
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        default = None if dry_run else context.paths.state / "rejects" / f"{stamp}.txt"
        self.rejects = Rejects(rejects or default)
        self.readers: dict[str, Reader] = {}
        self.failed: list[str] = []
        self._asked = False  # Slurm itself, once: from then on only what is new
        self._started = time.monotonic()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self.readers.values():
            reader.close()
        self.rejects.close()
        self._stack.close()

    def read(self, names: list[str]) -> None:
        from enrich.backfill.files import Source
        from enrich.backfill.seen import Seen

        for name in names:
            try:
                with Source(name) as source:
                    kind = self._kind(source.head)
                    path = (
                        self.memory / f"{kind}-{self.options.cluster}.json" if self.memory else None
                    )
                    seen = Seen(path if self.known else None)
                    self._reader(kind).read(
                        source, seen, Progress(name, source.size, source.packed)
                    )
            except FormatError as error:
                self.failed.append(f"{name}: {error}")

    def ask(self) -> None:
        """
        The real sacct; when it does not answer now it may the next time.
        """
        from enrich.backfill.files import SourceError
        from enrich.backfill.sacct_live import Live

        path = self.memory / f"sacct-live-{self.options.cluster}.json" if self.memory else None
        live = Live(self._reader("sacct"), path if self.known else None, self.staging)
        until, progress = self.options.until, Progress("sacct", 0, "")
        try:
            live.read(0 if self._asked else self.options.since, until, progress.share)
            self._asked = True
        except SourceError as error:
            self.failed.append(str(error))

    def report(self) -> None:
        seconds = time.monotonic() - self._started
        for kind, reader in self.readers.items():
            click.echo("\n".join([f"{kind}, {seconds:.1f} s:", *reader.tally.lines()]))
        if self.rejects.count and self.rejects.path:
            click.echo(f"refused lines are in {self.rejects.path}")
        self.complain()
        if self.failed:
            raise click.exceptions.Exit(1)

    def complain(self) -> None:
        for line in self.failed:
            click.echo(f"leadline: {line}", err=True)

    def _kind(self, head: bytes) -> str:
        from enrich.backfill.readers import formats

        if not head:
            raise FormatError("empty")
        if self.format_name in formats():
            return self.format_name
        if self.format_name != "auto":
            listed = ", ".join(("auto", *formats()))
            raise SettingsError(f"FORMAT {self.format_name!r} is none of {listed}")
        for name, known in formats().items():
            if known.recognise(head):
                return name
        raise FormatError(f"of no known format; there are {', '.join(formats())}")

    def _reader(self, kind: str):  # type: ignore[no-untyped-def]  # the Protocol is imported late
        from enrich.backfill.readers import formats

        if kind not in self.readers:
            self.readers[kind] = formats()[kind].build(
                self.sink, self.options, self.rejects, self.staging
            )
        return self.readers[kind]


class Progress:
    """
    How far, how fast, how long still: one line, for people only.
    """

    def __init__(self, name: str, size: int, packed: str) -> None:
        self.name = name
        self.size = 0 if packed else size
        self._started = time.monotonic()
        self._first = 0

    def __call__(self, position: int) -> None:
        if not sys.stderr.isatty():
            return
        rate = position / 1e6 / max(time.monotonic() - self._started, 0.001)
        text = f"{self.name}: {position / 1e6:,.0f} MB, {rate:,.0f} MB/s"
        if self.size:
            left = max(self.size - position, 0) / 1e6 / max(rate, 0.001)
            text = f"{text}, {position * 100 // self.size} %, {left:,.0f} s left"
        click.echo(f"\r{text}\x1b[K", err=True, nl=position >= self.size)

    def share(self, done: int, all_of_it: int) -> None:
        if sys.stderr.isatty():
            text = f"{self.name}: {done * 100 // max(all_of_it, 1)} % of the time asked for"
            click.echo(f"\r{text}\x1b[K", err=True, nl=done >= all_of_it)


def _chain(context: Context, cluster: str | None) -> Chain:
    """
    The steps `leadline enrich` runs, with the cluster that was named.
    """
    from enrich.chain import build_chain
    from enrich.settings import EnrichSettings
    from leadline.commands.enrich import step_context

    steps = replace(step_context(context), cluster=cluster)
    return build_chain(steps, context.settings.get("enrich", EnrichSettings))


def _canonical(context: Context, name: str) -> str:
    if name in context.clusters:
        return name
    for canonical, settings in context.clusters.items():
        if name in settings.aliases:
            return canonical
    return name


def _calendar(context: Context, cluster: str | None) -> ZoneInfo | None:
    """
    Days are counted by the settings' zone of the cluster, in whatever zone a file was written.
    """
    known = context.clusters.get(_canonical(context, cluster) if cluster else "")
    return ZoneInfo(known.zone) if known and known.zone else None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise click.UsageError(f"--timezone {name}: no such zone; write Europe/Oslo") from None


def _moment(text: str, zone: ZoneInfo) -> int:
    """
    A day in the cluster's zone, or an instant with its own.
    """
    try:
        plain = datetime.fromisoformat(text)
        if plain.tzinfo is None:
            plain = plain.replace(tzinfo=zone)
        return int(parse_time(plain.isoformat()).timestamp())
    except (ValueError, FormatError):
        raise click.UsageError(f"{text}: not a time; write 2024-01-31") from None
