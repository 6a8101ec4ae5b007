"""The pictures a reader may choose: each for what it can show, and nothing for what it cannot."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from leadline.formats.times import parse_time
from leadline.query import Answer, Question, ask, measure, parse_filters
from leadline.reports.kinds import KINDS
from leadline.reports.picture import axis, picture, scaled
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.web.conftest import NOW, job, process, week

WEEK = "last 7 days"
BY_PROGRAM = Question(by=("program",), period=WEEK)
CAN = {
    "area": [BY_PROGRAM, Question(period=WEEK)],
    "bars": [BY_PROGRAM, Question(("memory_max",), ("user",), period=WEEK)],
    "box": [Question(("run_time_median",), ("user",), period=WEEK)],
    "dots": [BY_PROGRAM, Question(("core_hours_used", "samples"), ("program",), period=WEEK)],
    "heat": [
        Question(by=("host",), period=WEEK),
        Question(by=("weekday", "hour_of_day"), period=WEEK),
    ],
    "histogram": [Question(("jobs",), ("run_time_class",), period=WEEK)],
    "lines": [BY_PROGRAM, Question(("memory_max",), ("user",), period=WEEK, bucket="day")],
    "pie": [BY_PROGRAM],
}
CANNOT = {
    "area": Question(("memory_max",), ("user",), period=WEEK),
    "bars": Question(period=WEEK),
    "box": BY_PROGRAM,
    "dots": Question(period=WEEK),
    "heat": Question(by=("program", "user"), period=WEEK),
    "histogram": BY_PROGRAM,
    "lines": Question(by=("program", "user"), period=WEEK),
    "pie": Question(("memory_max",), ("user",), period=WEEK),
}


class Asker:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def __call__(self, question: Question) -> Answer:
        return ask(question, self.store, EVERYTHING, NOW, zone=ZoneInfo("UTC"))

    def draw(self, kind: str, asked: Question) -> Any:
        answer = self(asked)
        return KINDS[kind](asked, answer, measure(asked.measures[0]), self)


@pytest.fixture(scope="module")
def asker() -> Asker:
    store = MemoryStore()
    store.write(week(), "create")
    return Asker(store)


@pytest.mark.parametrize(("kind", "asked"), [(k, q) for k, qs in CAN.items() for q in qs], ids=str)
def test_kind_draws_what_it_can(asker: Asker, kind: str, asked: Question) -> None:
    """
    A picture with values in it.
    """
    spec = asker.draw(kind, asked)
    assert spec is not None
    assert "'values': [{" in str(spec)


@pytest.mark.parametrize(("kind", "asked"), [(k, qs[0]) for k, qs in CAN.items()], ids=str)
def test_order_by_another_measure_is_drawn_too(asker: Asker, kind: str, asked: Question) -> None:
    """
    A table ordered by its second column still has its picture.
    """
    more = {"box": "run_time_max", "histogram": "run_time_max"}.get(kind, "samples")
    measures = (*asked.measures, more)
    assert asker.draw(kind, replace(asked, measures=measures, order=more)) is not None


@pytest.mark.parametrize("kind", CANNOT)
def test_kind_leaves_what_it_cannot(asker: Asker, kind: str) -> None:
    """
    No lines for parts of parts, no pie of maxima: what fits best is drawn instead, or nothing.
    """
    asked = CANNOT[kind]
    assert asker.draw(kind, asked) is None
    first, answer = measure(asked.measures[0]), asker(asked)
    assert picture(asked, answer, first, asker, kind) == picture(asked, answer, first, asker)


def test_every_kind_is_tried() -> None:
    """
    A new kind comes with what it can and cannot draw.
    """
    assert CAN.keys() == CANNOT.keys() == KINDS.keys()


def test_slices_make_the_whole(asker: Asker) -> None:
    """
    Six at most, the last is all others, together the total.
    """
    store = MemoryStore()
    many = [process(NOW - timedelta(hours=2), n, **{"program.name": f"p{n}"}) for n in range(9)]
    store.write(many, "create")
    one = Asker(store)
    asked = Question(by=("program",), period=WEEK, top=3)
    values = one.draw("pie", asked)["layer"][0]["data"]["values"]
    assert [v["name"] for v in values][-1] == "others"
    assert len(values) == 4
    assert sum(v["value"] for v in values) == pytest.approx(one(asked).total["core_hours_used"])
    all_shown = one.draw("pie", Question(by=("program",), period=WEEK))["layer"][0]
    assert len(all_shown["data"]["values"]) == 6


def test_empty_classes_stay_in_their_place(asker: Asker) -> None:
    """
    A histogram has every class, in order, those with nothing in them as well.
    """
    values = asker.draw("histogram", CAN["histogram"][0])["data"]["values"]
    assert [v["name"] for v in values][:2] == ["< 1 min", "1–10 min"]
    assert [v["value"] for v in values if v["value"]] == [30]


def test_classes_keep_their_order_in_every_picture() -> None:
    """
    Slices, bands, lines and rows of a heat map go from the least class to the greatest, whatever
    the values are.
    """
    runs = []
    for number, minutes in enumerate([30, 30, 30, 0.5, 300, 300]):
        for day in (1, 2, 3):
            ended = job(NOW - timedelta(days=day, hours=number), day * 10 + number)
            runs.append({**ended, "job.wall.seconds": 60.0 * minutes})
    store = MemoryStore()
    store.write(runs, "create")
    one, order = Asker(store), ["< 1 min", "10–60 min", "1–6 h"]
    asked = Question(("jobs",), ("run_time_class",), period=WEEK)
    (row, *_) = one(replace(asked, top=2)).rows
    assert 600 == row["run_time_class"]
    assert [0, 600, 3600] == [row["run_time_class"] for row in one(asked).rows]
    ranking = one(replace(asked, order="jobs", top=2))
    assert [600, 3600] == [row["run_time_class"] for row in ranking.rows]
    pie = one.draw("pie", asked)["layer"][0]["data"]["values"]
    assert order == [value["name"] for value in pie]
    for kind in ("area", "lines", "heat"):
        spec = one.draw(kind, replace(asked, bucket="day") if kind == "lines" else asked)
        text = str(spec)
        assert f"{order}" in text, (kind, text[:2000])


def test_an_axis_says_what_is_drawn_in() -> None:
    """
    Waits are drawn in hours: nobody reads 80k seconds.
    """
    wait, share = measure("wait_p90"), measure("cpu_utilisation")
    assert ("wait, 90 %, hours", 1.5) == (axis(wait), scaled({"wait_p90": 5400.0}, wait))
    assert "CPU utilisation, %" == axis(share)


def test_box_holds_the_spread(asker: Asker) -> None:
    """
    Least, median, 90 % and greatest, in hours.
    """
    store = MemoryStore()
    ends = [NOW - timedelta(hours=n) for n in range(1, 12)]
    runs = [job(end, n, **{"job.wall.seconds": 3600.0 * (n + 1)}) for n, end in enumerate(ends)]
    store.write([{**run, "user.name": "alice"} for run in runs], "create")
    (row,) = Asker(store).draw("box", CAN["box"][0])["data"]["values"]
    assert (row["name"], row["low"], row["middle"], row["top"]) == ("alice", 1, 6, 11)
    assert row["middle"] < row["high"] < row["top"]


def test_days_without_samples_are_hatched(asker: Asker) -> None:
    """
    A day nobody measured is no day of nothing; a day a user did nothing is.
    """
    only_dag = Question(by=("program",), where=parse_filters("user=dag"), period=WEEK)
    store = MemoryStore()
    days = [1, 2, 5, 6]
    store.write([process(NOW - timedelta(days=d), 1) for d in days], "create")
    store.write([process(NOW - timedelta(days=d), 3) for d in (1, 6)], "create")
    one = Asker(store)
    measured_never = ["2026-11-17", "2026-11-18"]
    for asked in (Question(by=("user",), period=WEEK), only_dag):
        middles = [parse_time(gap["from"]) + timedelta(hours=12) for gap in gaps_of(one, asked)]
        assert [f"{middle:%Y-%m-%d}" for middle in middles] == measured_never


def gaps_of(one: Asker, asked: Question) -> list[Any]:
    layers = one.draw("area", asked)["layer"]
    return [v for layer in layers for v in layer.get("data", {}).get("values", []) if "from" in v]


def test_five_fridays_are_no_busier_than_four_mondays(asker: Asker) -> None:
    """
    By the clock sums are drawn as rates: of an even load every hour and every day looks the same,
    however often a period holds it.
    """
    store = MemoryStore()
    moments = [NOW - timedelta(hours=hour, minutes=10) for hour in range(10 * 24)]
    store.write([process(moment, 0) for moment in moments], "create")  # three weekdays come twice
    one = Asker(store)
    for by, kind in ((("weekday", "hour_of_day"), "heat"), (("weekday",), "bars")):
        asked = Question(by=by, period="last 30 days", top=200)
        drawn = picture(asked, one(asked), measure("core_hours_used"), one)
        assert drawn is not None, kind
        values = [v["value"] for v in drawn["data"]["values"]]  # type: ignore[index]
        assert max(values) < 1.1 * min(values), kind
    assert "core hours used per day" in str(drawn)


def test_day_that_has_begun_is_no_fall(asker: Asker) -> None:
    """
    Lines of what adds up are rates too: today until noon is as high as yesterday.
    """
    store = MemoryStore()
    store.write([process(NOW - timedelta(hours=h), 0) for h in range(1, 6 * 24)], "create")
    asked = Question(by=("user",), period="last 3 days", bucket="day")
    drawn = Asker(store).draw("lines", asked)
    values = [v["value"] for v in drawn["data"]["values"]]
    assert min(values) > 0.85 * max(values)
    assert drawn["encoding"]["y"]["title"] == "core hours used per day"


def test_bar_of_two_names_has_the_colour_of_the_first(asker: Asker) -> None:
    """
    As in the table below it.
    """
    asked = Question(by=("user", "program"), period=WEEK)
    drawn = asker.draw("bars", asked)
    scale = drawn["encoding"]["color"]["scale"]
    hues: dict[str, set[str]] = {}
    for name, hue in zip(scale["domain"], scale["range"], strict=True):
        hues.setdefault(name.partition(" · ")[0], set()).add(hue)
    assert len(hues) > 2
    assert all(len(known) == 1 for known in hues.values())


def test_other_spellings_draw_the_same(asker: Asker) -> None:
    """
    A node is a host: the picture of one is that of the other.
    """
    first = measure("core_hours_used")
    for kind in ("", "heat", "lines", "bars"):
        node, host = (Question(by=(name,), period=WEEK) for name in ("node", "host"))
        drawn = picture(node, asker(node), first, asker, kind)
        assert drawn == picture(host, asker(host), first, asker, kind)


def test_boxes_are_the_rows_of_the_table(asker: Asker) -> None:
    """
    The users with the longest median, not those with the longest shortest run.
    """
    store = MemoryStore()
    hours = {"alice": (1, 9, 9), "bjorn": (5, 5, 5), "dag": (2, 7, 7)}
    runs = [
        job(
            NOW - timedelta(hours=1),
            10 * n + k,
            **{"user.name": user, "job.wall.seconds": 3600.0 * h},
        )
        for n, (user, spans) in enumerate(hours.items())
        for k, h in enumerate(spans)
    ]
    store.write(runs, "create")
    one = Asker(store)
    asked = Question(("run_time_median",), ("user",), period=WEEK, top=2)
    boxed = [row["name"] for row in one.draw("box", asked)["data"]["values"]]
    assert boxed == [row["user"] for row in one(asked).rows] == ["alice", "dag"]
