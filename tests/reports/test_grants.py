"""
Grants: from the settings and from files, told apart by resource, refused with place and reason.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leadline.errors import SettingsError
from leadline.reports.grants import Grant, read_grants
from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.simulate import Plan, simulate

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
OSLO = ZoneInfo("Europe/Oslo")


def read(tmp_path: Path, text: str, name: str = "grants.csv") -> tuple[Grant, ...]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_grants(AllocationSettings(files=(path,)), NOW, lambda cluster: OSLO)


def test_one_row_may_grant_cores_and_gpus(tmp_path: Path) -> None:
    """
    Core hours and GPU years of one row are two grants of one project over local days.
    """
    core, gpu = read(
        tmp_path,
        "project,cluster,period,core_hours,gpu_years,note\n"
        "nn1,fox,2026-10-01..2026-12-31,1_000,2,call 7\n",
    )
    assert ("core", 1000.0, "core_hours_allocated") == (core.resource, core.hours, core.measure)
    assert ("gpu", 17520.0, "gpu_hours_allocated") == (gpu.resource, gpu.hours, gpu.measure)
    assert datetime(2026, 9, 30, 22, tzinfo=UTC) == core.start
    assert datetime(2026, 12, 31, 23, tzinfo=UTC) == core.end
    assert "call 7" == core.note


def test_tabs_comments_and_charge(tmp_path: Path) -> None:
    """
    A .tsv is read by tabs, lines with # are left out, and samples may be what is charged.
    """
    (grant,) = read(
        tmp_path,
        "# granted by the board\nproject\tperiod\tcore_years\tcharge\nnn1\t2026\t1\tused\n",
        "grants.tsv",
    )
    assert (None, "core_hours_used", 8760.0) == (grant.cluster, grant.measure, grant.hours)


def test_periods_of_the_site(tmp_path: Path) -> None:
    """
    A grant may be of a period that the settings name.
    """
    settings = AllocationSettings(grants=(GrantSettings(period="2026.2", core_hours=5),))
    named = {"2026.2": "2026-07-01..2026-12-31"}
    (grant,) = read_grants(settings, NOW, lambda cluster: OSLO, named)
    assert datetime(2026, 6, 30, 22, tzinfo=UTC) == grant.start


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("project,period,cores\n", "line 1: column 'cores' is unknown"),
        ("project,core_hours\n", "column period is missing"),
        ("period,core_hours\n2026,many\n", "line 2: core_hours: 'many' is not a number"),
        ("period,core_hours\n2026,-1\n", "line 2: an amount must be 0 or more"),
        ("period,core_hours\n2026\n", "line 2: 1 cells where the head has 2"),
        ("period,core_hours\nlast 30 days,1\n", "must have a first and a last day"),
        ("period,core_hours\nthis year,1\n", "must have a first and a last day"),
        ("period,core_hours\nnever,1\n", "line 2: period 'never' is unknown"),
        ("period,core_hours,charge\n2026,1,free\n", "neither allocated nor used"),
        ("period,core_hours\n2026,1\n2026,2\n", "granted twice"),
        ("period,core_hours,core_years\n2026,1,1\n", "give one of them"),
        ("period,core_hours,gpu_model\n2026,1,A100\n", "only GPU hours are of a model"),
        ("period,note\n2026,hello\n", "one must be given"),
    ],
)
def test_refused_with_place_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    """
    A row nobody can take names the file, the line and what is wrong.
    """
    with pytest.raises(SettingsError, match=r"grants\.csv|allocations") as error:
        read(tmp_path, text)
    assert reason in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """
    A file that is not there is an error of the settings, not an empty list of grants.
    """
    with pytest.raises(SettingsError, match=r"nowhere\.csv: No such file"):
        read_grants(
            AllocationSettings(files=(tmp_path / "nowhere.csv",)), NOW, lambda cluster: OSLO
        )


def test_grants_of_a_demo_count_once_it_is_loaded(tmp_path: Path) -> None:
    """
    Beside those of the settings, and from the file the simulation writes; before, there is none.
    """
    zone = ZoneInfo("UTC")

    def known() -> tuple[Grant, ...]:
        return read_grants(AllocationSettings(), NOW, lambda cluster: zone, demo=tmp_path)

    assert () == known()
    first, last = int(NOW.timestamp()) - 5 * 86400, int(NOW.timestamp())
    simulate(Plan(7, 8, 5, 3600, last, "demo", compress=False), tmp_path)
    assert {"demo"} == {one.cluster for one in known()}
    assert len({one.project for one in known()}) > 3
    assert all(one.hours > 0 for one in known())
    assert all(one.start.timestamp() <= first and last < one.end.timestamp() for one in known())
