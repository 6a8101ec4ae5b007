"""`leadline setup`: make the store ready, or bring it up to date."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.commands.context import Context, with_context
from leadline.commands.remote import pages_api
from leadline.errors import LeadlineError, SettingsError
from leadline.settings.common import RetentionSettings, StoreSettings
from leadline.settings.secret import secret
from leadline.web.settings import WebSettings

if TYPE_CHECKING:
    from leadline.store.opensearch.store import OpenSearchStore


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be changed.")
@click.option("--dashboards", metavar="URL", help="Import the saved objects there, and only that.")
@click.option("--tenant", default="", help="Tenant of OpenSearch Dashboards.")
@click.option("--space", default="", help="Space of Kibana.")
@click.option("--constants", metavar="URL", help="The pages whose grants the panels draw.")
@click.option("--token-file", type=click.Path(path_type=Path), help="The token those pages want.")
@click.option("--roles", is_flag=True, help="Roles of OpenSearch's security plug-in, only that.")
@click.option("--check-dashboards", is_flag=True, help="Say which panels have no data, and why.")
@with_context
def setup(
    context: Context,
    dry_run: bool,
    dashboards: str | None,
    tenant: str,
    space: str,
    constants: str | None,
    token_file: Path | None,
    roles: bool,
    check_dashboards: bool,
) -> None:
    """
    Install templates and lifecycle policies on OpenSearch or Elasticsearch, or saved objects
    in OpenSearch Dashboards or Kibana.

    What is right already is left alone. An index whose mapping does not fit stops it before
    anything is changed. The lake needs no setup.

    \b
    Examples:
        leadline setup --dry-run
        leadline --store opensearch=https://search:9200 setup
        leadline setup --dashboards http://dashboards:5601 --constants http://127.0.0.1:8470
        leadline setup --check-dashboards
        leadline setup --roles --dry-run
    """
    if dashboards:
        import_objects(context, dashboards, tenant, space, constants, token_file)
        return
    if check_dashboards:
        check_objects(context)
        return
    if roles:
        install_roles(context, dry_run=dry_run)
        return
    if not context.store_address.startswith("opensearch"):
        click.echo(f"{context.store_address} needs no setup")
        return
    from leadline.store.opensearch.setup import has_ism, set_up

    store = search_store(context)
    retention = context.settings.get("retention", RetentionSettings)
    changes = set_up(store.client, store.prefix, store.settings, retention, dry_run=dry_run)
    for change in changes:
        click.echo(f"{'would change' if dry_run else 'changed'}  {change}")
    if not changes:
        click.echo(f"{store.client.engine}: everything is up to date")
    if not store.client.engine.elasticsearch and not has_ism(store.client):
        click.echo("no index state management here: `leadline retain --yes` deletes, run it daily")


def install_roles(context: Context, *, dry_run: bool) -> None:
    """
    Who sees what in the engine itself, by the settings that say it for the pages.
    """
    from leadline.store.opensearch.roles import Access, set_up_roles

    store = search_store(context)
    web = context.settings.get("web", WebSettings)
    service = context.settings.get("store", StoreSettings).username
    access = Access(web.admins, web.leaders, service)
    changes = set_up_roles(store.client, store.prefix, access, dry_run=dry_run)
    for change in changes:
        click.echo(f"{'would change' if dry_run else 'changed'}  {change}")
    if not changes:
        click.echo("roles: everything is up to date")


def search_store(context: Context) -> OpenSearchStore:
    if not context.store_address.startswith("opensearch"):
        raise SettingsError(
            f"dashboards and roles read OpenSearch, not {context.store_address}; "
            "add --store opensearch=https://search:9200"
        )
    from leadline.store.opensearch.store import OpenSearchStore

    store = context.own_store
    assert isinstance(store, OpenSearchStore)
    return store


def import_objects(
    context: Context,
    address: str,
    tenant: str,
    space: str,
    constants: str | None,
    token_file: Path | None,
) -> None:
    """
    The saved objects into the product at ADDRESS, as the store's user; with the grants and limits
    that the pages at CONSTANTS serve.
    """
    from kibana.build import BUILT
    from kibana.thresholds import filled
    from kibana.upload import Target, upload

    text = BUILT.read_text(encoding="utf-8")
    if constants:
        found = dict(pages_api(context, constants, token_file).get("constants"))
        if "grants" not in found:
            raise LeadlineError(f"--constants {constants} answers, but not as leadline's pages do")
        text = filled(text, found, datetime.now(UTC))
    store = context.settings.get("store", StoreSettings)
    password = secret(store.password_file) if store.password_file else ""
    target = Target(address, store.username, password, store.ca_file, store.verify, tenant, space)
    click.echo(f"{upload(target, text)} saved objects are in {address}")


def check_objects(context: Context) -> None:
    """
    Every panel's search on the store, as the products would make it now.
    """
    from kibana.build import shipped
    from kibana.live import check

    store = search_store(context)
    client = store.client

    def engine(method: str, path: str, body: object) -> tuple[int, object]:
        answer = client.request(method, path, body)
        return answer.status, answer.body if answer.status else answer.reason

    report = check(shipped(), engine, datetime.now(UTC), store.prefix)
    for kind, lines in (("broken", report.broken), ("empty", report.empty)):
        for line in lines:
            click.echo(f"{kind}  {line}")
    click.echo(
        f"{report.panels} panels, {report.searches} searches: "
        f"{len(report.broken)} broken, {len(report.empty)} empty"
    )
    if report.broken:
        raise click.exceptions.Exit(1)
