"""`leadline retain`: take away what the retention table says is no longer kept."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from leadline.chores.names import hide_names
from leadline.chores.seal import sealed
from leadline.commands.context import Context, with_context
from leadline.commands.pseudonym import alias_of
from leadline.errors import SettingsError
from leadline.formats.counted import counted
from leadline.settings.common import RetentionSettings
from leadline.settings.typed import parse_duration
from leadline.store.contract import Expired
from leadline.store.retention import kept_from, old_files, withheld


@click.command()
@click.option("--yes", is_flag=True, help="Delete; without it only say what would go.")
@click.option("--unsealed", is_flag=True, help="Raw months as well that have no summaries.")
@click.option(
    "--files",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Dated sample files in FOLDER instead of the store.",
)
@click.option("--keep", metavar="AGE", help="With --files: how long they are kept, as in 90d.")
@with_context
def retain(
    context: Context, yes: bool, unsealed: bool, files: Path | None, keep: str | None
) -> None:
    """
    Delete whole periods that are older than the settings' retention keeps them, and hide names
    that are older than it keeps names.

    Works on the lake, on OpenSearch and Elasticsearch with or without lifecycle policies, and on
    folders of dated files. Only names that are wholly of leadline's kind are ever touched. Raw
    samples go only when their month is sealed: its summaries are complete.

    \b
    Examples:
        leadline retain
        leadline retain --yes
        leadline retain --files /var/spool/samples --keep 90d --yes
    """
    if files is not None:
        retain_files(files, keep, delete=yes)
        return
    if keep is not None:
        raise SettingsError("--keep goes with --files; the store's ages are in [retention]")
    retain_store(context, delete=yes, unsealed=unsealed)


def retain_store(context: Context, *, delete: bool, unsealed: bool) -> None:
    now = datetime.now(UTC)
    retention = context.settings.get("retention", RetentionSettings)
    by_age = kept_from(retention, now)
    allowed = by_age if unsealed else kept_from(retention, now, sealed=sealed(context.store))
    old = context.store.expire(by_age, dry_run=True)
    gone = context.store.expire(allowed, dry_run=not delete)
    report(gone, "deleted" if delete else "would delete")
    left = withheld(old, gone)
    report(left, "not sealed, kept")
    if left:
        click.echo(
            "Months are sealed once they are summarised; --unsealed deletes them as they are."
        )
    hidden = retain_names(context, retention, now, hide=delete)
    if (gone or hidden) and not delete:
        click.echo("Nothing was changed; `leadline retain --yes` does it.")
    if not gone and not left and not hidden:
        click.echo(f"{context.store_address}: nothing is older than it is kept")


def retain_names(
    context: Context, retention: RetentionSettings, now: datetime, *, hide: bool
) -> dict[str, int]:
    """
    Names older than `retention.names` keeps them, behind pseudonyms.
    """
    alias = alias_of(context) if retention.names else None
    if alias is None:
        return {}
    found = hide_names(context.store, retention.names, alias, now, dry_run=not hide)
    for dataset, count in found.items():
        click.echo(
            f"{'hidden' if hide else 'would hide'}  names in"
            f" {counted(count, 'document')} of {dataset}"
        )
    return found


def report(pieces: Iterable[Expired], verdict: str) -> None:
    for piece in pieces:
        size = f"{piece.size / 1e6:,.1f} MB" if piece.size else "-"
        click.echo(
            f"{verdict}  {piece.name}  {counted(piece.documents, 'document')}  {size}"
            f"  {piece.reason}"
        )


def retain_files(folder: Path, keep: str | None, *, delete: bool) -> None:
    if keep is None:
        raise SettingsError("--files needs --keep AGE, as in --keep 90d")
    try:
        age = parse_duration(keep)
    except ValueError as error:
        raise SettingsError(f"--keep: {error}") from None
    before = (datetime.now(UTC) - timedelta(seconds=age)).date()
    found = list(old_files(folder, before))
    for file in found:
        if delete:
            file.path.unlink()
        size = f"{file.size / 1e6:,.1f} MB"
        click.echo(f"{'deleted' if delete else 'would delete'}  {file.path}  {file.day}  {size}")
    if not found:
        click.echo(f"{folder}: no file whose name ends in a day before {before}")
