"""
`leadline size`: the arithmetic a person would do, done.
"""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.store.sizing import BYTES, Site, plan_size


def site(**changes: float) -> Site:
    usual = {"nodes": 1000, "every": 60.0, "processes": 15.0, "cards": 0.0}
    rest = {"jobs": 0, "keep": 90 * 86400.0, "copies": 1}
    return Site(**{**usual, **rest, **changes})  # type: ignore[arg-type]


def test_documents_and_bytes_follow_from_the_site() -> None:
    """
    1,000 nodes, 15 processes and 7 node documents a minute.
    """
    size = plan_size(site())
    assert size.documents_per_second == pytest.approx(1000 * 22 / 60)
    per_day = 1000 * 1440 * (15 * BYTES["process"][0] + 7 * BYTES["node"][0])
    assert size.bytes_per_day == pytest.approx(per_day)


@pytest.mark.parametrize("change", [{"every": 30.0}, {"nodes": 2000}, {"keep": 180 * 86400.0}])
def test_twice_as_much_takes_twice_the_disk(change: dict[str, float]) -> None:
    """
    Raw samples are nearly all of it.
    """
    assert plan_size(site(**change)).disk == pytest.approx(2 * plan_size(site()).disk)


def test_a_big_site_is_told_to_cut_by_day() -> None:
    """
    Months of more than some shards are cut by day.
    """
    assert not plan_size(site()).daily
    assert plan_size(site(nodes=10_000, every=15.0)).daily


def test_the_command_prints_it() -> None:
    """
    One line each, and a wrong duration is refused.
    """
    done = CliRunner().invoke(cli, ["size", "--nodes", "1000", "--every", "60s"])
    assert done.exit_code == 0
    assert "367 a second" in done.output
    assert CliRunner().invoke(cli, ["size", "--nodes", "1", "--every", "soon"]).exit_code != 0
