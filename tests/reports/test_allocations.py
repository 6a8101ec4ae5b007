"""
Allocations: used, left, burn rate and projection, by hand; and what is not measured stays so.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.formats import Document
from leadline.query import ask, parse_question
from leadline.reports.allocations import Allocation, alike, allocations, columns, rows, thresholds
from leadline.reports.grants import Grant, read_grants
from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.any_store import STORES
from tests.query.conftest import sample, stored

UTC_ZONE = ZoneInfo("UTC")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TERM = "2026-11-01..2026-11-30"


def slice_of(day: date, hours: float, project: str = "nn1", **fields: object) -> Document:
    """
    A run's core hours within one day.
    """
    return {
        "dataset": "job_slice",
        "@timestamp": f"{day}T00:00:00.000Z",
        "cluster": "fox",
        "job.run": f"fox/{project}@{day}",
        "local.day": day.isoformat(),
        "project": project,
        "core_seconds_allocated": hours * 3600,
        "record.version": 1,
        **fields,
    }


def days(hours: float, first: int = 1, last: int = 20, **fields: object) -> list[Document]:
    return [slice_of(date(2026, 11, day), hours, **fields) for day in range(first, last + 1)]  # type: ignore[arg-type]


def grants(*given: GrantSettings) -> tuple[Grant, ...]:
    return read_grants(AllocationSettings(grants=given), NOW, lambda cluster: UTC_ZONE)


def told(store: Store, *given: GrantSettings, now: datetime = NOW) -> tuple[Allocation, ...]:
    return allocations(store, EVERYTHING, grants(*given), now)


def cores(hours: float, **fields: str) -> GrantSettings:
    return GrantSettings(
        **{"period": TERM, "project": "nn1", "cluster": "fox", **fields}, core_hours=hours
    )  # type: ignore[arg-type]


def test_burn_rate_and_projection() -> None:
    """
    20 days of 10 hours, and half a day of none: 200 of 400, 9.76 a day, 292.7 at the end.
    """
    (found,) = told(stored(days(10)), cores(400))
    assert (200.0, 200.0, 0.5) == (found.used, found.left, found.share)
    assert found.burn == pytest.approx(200 / 20.5)
    assert found.projected == pytest.approx(200 + 9.5 * 200 / 20.5)
    assert found.pace == pytest.approx(200 / 9.5)
    assert found.elapsed == pytest.approx(20.5 / 30)
    assert ("behind", None, False) == (found.verdict, found.runs_out, found.alarming)


def test_what_will_run_out_says_when() -> None:
    """
    210 of 220 hours are gone, at 10.24 a day: the rest lasts not a day.
    """
    (found,) = told(stored(days(10.5)), cores(220))
    assert "will run out" == found.verdict
    assert found.runs_out == NOW + timedelta(days=10 / (210 / 20.5))
    assert "2026-11-22" == rows([found])[0]["runs_out"]
    assert found.alarming


def test_used_up_on_the_day_it_happened() -> None:
    """
    A grant of 55 hours at 10 a day was used up on the sixth day; what is left is below 0.
    """
    (found,) = told(stored(days(10)), cores(55))
    assert ("used up", -145.0) == (found.verdict, found.left)
    assert datetime(2026, 11, 6, tzinfo=UTC) == found.runs_out


def test_on_course_over_and_not_begun() -> None:
    """
    The verdict goes by the grant's time, too; a grant that is over has no burn rate.
    """
    store = stored(days(10))
    (course,) = told(store, cores(300))
    (over,) = told(store, cores(300), now=datetime(2027, 1, 1, tzinfo=UTC))
    (ahead,) = told(store, cores(310, period="2027-01"))
    assert ("on course", "over", "not begun") == (course.verdict, over.verdict, ahead.verdict)
    assert (None, 200.0) == (over.burn, over.projected)
    assert (0.0, 10.0) == (ahead.used, ahead.pace)


def test_a_grant_that_is_over_alarms_nobody() -> None:
    """
    It was used up, and by more than was granted; nothing can be done about it any more.
    """
    (found,) = told(stored(days(10)), cores(55), now=datetime(2027, 1, 1, tzinfo=UTC))
    assert ("used up", -145.0, False) == (found.verdict, found.left, found.alarming)


def test_first_and_last_hour() -> None:
    """
    An hour after it began the rate is that hour's; an hour before its end the rest is an hour's.
    """
    store = stored(days(1.0, last=30))
    (first,) = told(stored(days(1.0, last=1)), cores(30), now=datetime(2026, 11, 1, 1, tzinfo=UTC))
    assert (1.0, 24.0, "will run out") == (first.used, first.burn, first.verdict)
    assert first.runs_out == datetime(2026, 11, 1, 1, tzinfo=UTC) + timedelta(days=29 / 24)
    (last,) = told(store, cores(40), now=datetime(2026, 11, 30, 23, tzinfo=UTC))
    assert last.projected == pytest.approx(30 + last.burn / 24)
    assert last.pace == pytest.approx(10 * 24)


def test_days_are_the_clusters_own() -> None:
    """
    A grant of October in Oslo has 745 hours, and begins at 22:00 of September's last day in UTC.
    """
    given = AllocationSettings(grants=(cores(100, period="2026-10"),))
    (grant,) = read_grants(given, NOW, lambda cluster: ZoneInfo("Europe/Oslo"))
    assert timedelta(hours=745) == grant.end - grant.start
    assert datetime(2026, 9, 30, 22, tzinfo=UTC) == grant.start


def test_no_jobs_is_zero_only_where_jobs_are_known() -> None:
    """
    A project without a job used 0; GPU hours where no card was ever accounted are not measured.
    """
    given = (cores(10, project="nn2"), GrantSettings(TERM, "nn1", "fox", gpu_hours=5))
    idle, blind = told(stored(days(10)), *given)
    assert (0.0, "behind") == (idle.used, idle.verdict)
    assert (None, None, "not measured") == (blind.used, blind.left, blind.verdict)
    assert ["not measured"] == [known.verdict for known in told(MemoryStore(), cores(10))]


def test_all_projects_and_all_clusters() -> None:
    """
    Without a project a grant is of all together, without a cluster of all clusters.
    """
    elsewhere = days(1, project="nn2", cluster="betzy")
    store = stored([*days(10), *elsewhere])
    fox, everywhere = told(store, cores(900, project=""), cores(900, project="", cluster=""))
    assert (200.0, 220.0) == (fox.used, everywhere.used)


def test_samples_may_be_charged() -> None:
    """
    Where no scheduler accounts, core hours that samples saw are charged.
    """
    store = stored([sample(number, project="nn1") for number in range(3)])
    given = GrantSettings(TERM, "nn1", "fox", core_hours=30, charge="used")
    (found,) = told(store, given)
    assert 3.0 == found.used
    assert (("2026-11-20", 3.0),) == found.by_day


def test_lake_tells_the_same(tmp_path: Path) -> None:
    """
    Use by day adds up on the lake as it does in memory.
    """
    documents = [*days(10), *days(3, project="nn2")]
    lake = LakeStore(tmp_path / "lake")
    lake.write(documents, "replace")
    assert told(stored(documents), cores(400)) == told(lake, cores(400))
    lake.close()


def test_thresholds_of_a_chart() -> None:
    """
    A month of a quarter's grant is its share of the days; a filter nobody granted for has none.
    """
    store = stored(days(10))
    given = grants(cores(920, period="2026-10-01..2026-12-31"))

    def lines(text: str) -> list[tuple[str, float]]:
        answer = ask(parse_question(text), store, EVERYTHING, NOW, zone=UTC_ZONE)
        return [(known.label, round(known.value, 6)) for known in thresholds(answer, given)]

    month = "core_hours_allocated by user where cluster=fox, project=nn1 during 2026-11"
    assert [("granted: nn1", 300.0)] == lines(month)
    assert [] == lines("core_hours_allocated by user where cluster=fox during 2026-11")
    assert [] == lines("wall_hours where cluster=fox, project=nn1 during 2026-11")
    assert [] == lines("core_hours_allocated where project=nn1, user=alice during 2026-11")
    assert [] == lines("core_hours_allocated where project=nn1 during 2025")


def test_thresholds_by_month() -> None:
    """
    With a time bucket there is one value for each bucket, and they add up.
    """
    asked = "core_hours_allocated per month where project=nn1 during 2026-10-01..2026-12-31"
    answer = ask(parse_question(asked), stored(days(1)), EVERYTHING, NOW, zone=UTC_ZONE)
    (line,) = thresholds(answer, grants(cores(920, period="2026-10-01..2026-12-31")))
    expected = [("2026-10-01", 310.0), ("2026-11-01", 300.0), ("2026-12-01", 310.0)]
    assert expected == [(label, round(hours, 6)) for label, hours in line.by_time]
    assert line.value == pytest.approx(920)


def test_command_ends_with_3_when_a_grant_is_used_up(tmp_path: Path) -> None:
    """
    Scripts see by the exit code that somebody must act, and read the same figures as people.
    """
    today = datetime.now(UTC).date()
    lake = LakeStore(tmp_path / "lake")
    lake.write([slice_of(today.replace(day=1), 10)], "replace")
    lake.close()
    term = f"{today.replace(day=1)}..{today + timedelta(days=40)}"

    def run(hours: float) -> tuple[int, str]:
        config = tmp_path / "leadline.yaml"
        grant = f"{{project: nn1, period: '{term}', core_hours: {hours}}}"
        config.write_text(f"allocations:\n  grants:\n    - {grant}\n", encoding="utf-8")
        words = ["--config", str(config), "--store", f"lake:{tmp_path / 'lake'}", "allocations"]
        done = CliRunner().invoke(cli, [*words, "--format", "csv"], prog_name="leadline")
        return done.exit_code, done.output

    assert (3, True) == (lambda code, text: (code, "used up" in text))(*run(5))
    assert 0 == run(100_000)[0]


@STORES
def test_a_grant_of_one_partition_and_one_model(other: Store) -> None:
    """
    Only what ran there counts; the whole project's grant counts everything.
    """
    cards = {"gpu_seconds_allocated": 2 * 3600.0, "partition": "accel"}
    documents = [
        *days(1, 1, 10, **{"gpu.models": ["A100"]} | cards),
        *days(1, 1, 10, project="nn2", **{"gpu.models": ["A100"]} | cards),
        *days(1, 11, 15, **{"gpu.models": ["H100"]} | cards),
        *days(1, 16, 20, partition="batch"),
    ]
    assert not other.write(documents, "replace").rejected
    narrow = {"project": "nn1", "period": TERM}
    given = (
        GrantSettings(**narrow, core_hours=100),
        GrantSettings(**narrow, partition="accel", core_hours=100),
        GrantSettings(**narrow, partition="accel", gpu_model="A100", gpu_hours=100),
        GrantSettings(**narrow, gpu_model="H100", gpu_hours=100),
        GrantSettings(period=TERM, gpu_model="A100", gpu_hours=100),
    )
    found = told(other, *given)
    assert [20.0, 15.0, 20.0, 10.0, 40.0] == [one.used for one in found]
    told_rows = rows(found)
    assert [(None, None), ("accel", None), ("accel", "A100"), (None, "H100"), (None, "A100")] == [
        (row["partition"], row["gpu_model"]) for row in told_rows
    ]
    assert {"partition", "gpu_model"} <= {column.name for column in columns(told_rows)}
    assert not {"partition", "gpu_model"} & {column.name for column in columns(told_rows[:1])}
    assert "period" not in {column.name for column in columns(told_rows)}, "one for all: said once"
    assert TERM == alike(told_rows)["period"]
    assert {} == alike([told_rows[0], {**told_rows[1], "period": "2025"}])


def test_lines_of_narrow_grants_are_drawn_where_they_are_asked_for() -> None:
    """
    A grant of one partition is a line in a picture of that partition, and of no other.
    """
    store = MemoryStore()
    store.write(days(1, partition="accel"), "replace")
    wide = GrantSettings(project="nn1", period=TERM, core_hours=100)
    both = grants(wide, GrantSettings(project="nn1", period=TERM, partition="accel", core_hours=40))
    for where, values in (
        ("project=nn1", [100.0]),
        ("project=nn1, partition=accel", [40.0]),
        ("project=nn1, partition=batch", []),
        ("partition=accel", []),
    ):
        text = f"core_hours_allocated where {where} during {TERM}"
        found = ask(parse_question(text), store, EVERYTHING, NOW, zone=UTC_ZONE)
        assert values == [line.value for line in thresholds(found, both)]
