"""
`leadline setup`: what it prints.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.store.opensearch.client import Client


def test_the_lake_needs_none(tmp_path: Path) -> None:
    """
    One line and success.
    """
    done = CliRunner().invoke(cli, ["--store", f"lake:{tmp_path}", "setup"])
    assert (done.exit_code, done.output) == (0, f"lake:{tmp_path} needs no setup\n")


@pytest.mark.opensearch
def test_each_change_is_a_line_and_a_second_run_has_none(opensearch: str) -> None:
    """
    Dry run, real run, nothing left to do; and that `retain` has to be run here.
    """
    words = ["--store", f"opensearch={opensearch}", "setup"]
    try:
        dry = CliRunner().invoke(cli, [*words, "--dry-run"], catch_exceptions=False)
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        again = CliRunner().invoke(cli, words, catch_exceptions=False)
    finally:
        client = Client([opensearch])
        client.request("DELETE", "/_index_template/leadline-*")
        client.request("DELETE", "/_component_template/leadline-*")
        client.close()
    assert dry.output == done.output.replace("changed  ", "would change  ")
    assert "changed  index template leadline-process: install" in done.output
    assert "opensearch 3.4.0: everything is up to date" in again.output
    assert "leadline retain" in again.output


def test_roles_are_of_an_engine(tmp_path: Path) -> None:
    """
    A lake's folder has an owner; there is nobody to give roles to.
    """
    done = CliRunner().invoke(cli, ["--store", f"lake:{tmp_path}", "setup", "--roles"])
    assert "roles read OpenSearch" in str(done.exception)
