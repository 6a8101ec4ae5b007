"""The specification that is handed out: what is drawn, and what a reader can do with it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import vl_convert

from leadline.language import spoken
from leadline.render.charts import (
    boxes,
    columns,
    dots,
    draw_vega,
    heat,
    histogram,
    lines,
    pie,
    ranking,
    ruled,
    scatter,
    stacked_area,
)
from leadline.render.charts.interactive import interactive
from leadline.render.charts.profile import Track, tracks
from leadline.render.charts.render import VEGA_LITE, written

HOSTILE = "<script>alert(1)</script>\"'\\ javascript:x\x00"
NAMES = ["VASP", HOSTILE, "others"]
START = datetime(2026, 11, 1, tzinfo=UTC)
POINTS = [
    {"time": f"2026-11-{day:02d}T00:00:00.000Z", "name": name, "value": day * 1000.0 + place}
    for day in range(1, 6)
    for place, name in enumerate(NAMES)
]
ROWS = [{"name": name, "value": place + 1.5} for place, name in enumerate(NAMES)]
GRANT = [{"time": POINTS[0]["time"], "value": 3}, {"time": POINTS[-1]["time"], "value": 3}]
GAP = [("2026-11-02T12:00:00.000Z", "2026-11-03T12:00:00.000Z")]
BOX = [{"name": "a", "low": 1, "middle": 2, "high": 3, "top": 5}]

SPECS: dict[str, dict[str, Any]] = {
    "area": stacked_area(POINTS, NAMES, "h", unmeasured=GAP),
    "area with a grant": ruled(stacked_area(POINTS, NAMES, "h"), GRANT, "granted"),
    "one name": stacked_area(POINTS[::3], NAMES[:1], "h"),
    "lines": lines(POINTS, NAMES, "h"),
    "lines with a grant": ruled(lines(POINTS, NAMES, "h"), GRANT, "granted"),
    "columns": columns(ROWS, "h", "hour"),
    "heat": heat(
        [{"across": "01", "down": HOSTILE, "value": 3}], ["01", "02"], [HOSTILE], "h", "hour"
    ),
    "histogram": histogram(ROWS, "h", "size"),
    "boxes": boxes(BOX, "h", ["least", "median", "90 %", "greatest"]),
    "dots": dots(ROWS, "h"),
    "scatter": scatter([{"name": HOSTILE, "x": 1, "y": 2}], "across", "up"),
    "pie": pie(ROWS, "h"),
    "ranking": ranking(ROWS, "h"),
    "tracks": tracks(
        [Track("cores busy", [1, 2, None, 4], 5), Track(HOSTILE, [0.1, 0.25, 0.3, 0.4])],
        START,
        timedelta(minutes=30),
    ),
}
OVER_TIME = [name for name, spec in SPECS.items() if "time" in json.dumps(spec)]


def compiled(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = vl_convert.vegalite_to_vega(
        draw_vega(spec).decode(), vl_version=VEGA_LITE
    )
    return found


def drawn(text: bytes) -> tuple[set[str], set[str]]:
    """
    The shapes of every mark, and the texts, of a specification.
    """
    svg = vl_convert.vegalite_to_svg(text.decode(), vl_version=VEGA_LITE)
    groups = re.findall(r'<g class="mark-(?:area|line|rect|arc|symbol|rule) role-mark.*?</g>', svg)
    return set(re.findall(r'<path[^>]* d="([^"]+)"', "".join(groups))), set(
        re.findall(r">([^<>]+)</text>", svg)
    )


def tips(spec: dict[str, Any]) -> list[Any]:
    views = [view for strip in spec.get("vconcat", [spec]) for view in strip.get("layer", [strip])]
    found = [view["encoding"]["tooltip"] for view in views if "tooltip" in view.get("encoding", {})]
    return [field for tip in found for field in tip]


@pytest.mark.parametrize("name", SPECS)
def test_same_marks_as_the_plain_drawing(name: str) -> None:
    """
    Whoever opens it sees what the page shows: each shape of it, and each text of its axes.
    """
    spec = SPECS[name]
    plain, texts = drawn(written(spec))
    handled, told = drawn(draw_vega(spec))
    beside = {path for path in plain if path.startswith("M-")}  # squares beside names: a legend now
    assert plain - beside <= handled
    assert len(handled) > 0
    assert {text for text in texts - told if "…" not in text} <= {"VASP", "all"}


@pytest.mark.parametrize("name", SPECS)
def test_marks_tell_their_name_first(name: str) -> None:
    """
    Every picture has tips, the name or the moment on top of them; nothing else was added to values.
    """
    spec = SPECS[name]
    fields = tips(interactive(spec))
    assert fields[0]["title"] == "title"
    assert any(field["title"] != "title" for field in fields)
    assert "data" not in spec or interactive(spec)["data"] == spec["data"]
    assert compiled(spec)["marks"]


@pytest.mark.parametrize("name", OVER_TIME)
def test_time_can_be_moved(name: str) -> None:
    """
    A drag moves the axis, of all strips at once; the pointer is at one moment of all.
    """
    known = {param["name"]: param for param in interactive(SPECS[name])["params"]}
    strips = len(SPECS[name].get("vconcat", "1"))
    assert len(known["span"]["views"]) == len(known["moment"]["views"]) == strips
    assert known["span"]["select"]["zoom"] == "wheel![event.shiftKey]"
    signals = [one["name"] for one in compiled(SPECS[name])["signals"]]
    assert {"span", "moment"} <= set(signals)


@pytest.mark.parametrize("name", ["area", "area with a grant", "lines", "lines with a grant"])
def test_legend_switches_names(name: str) -> None:
    """
    What is drawn is filtered by the names of the legend, before it is stacked.
    """
    found = interactive(SPECS[name])
    first = found["layer"][0]
    assert first["transform"] == [{"filter": {"param": "names"}}]
    assert first["encoding"]["color"]["legend"]["orient"] == "right"
    assert "names" in [param["name"] for param in found["params"]]


def test_one_name_has_no_legend() -> None:
    """
    Where there is nothing to tell apart nothing is switched.
    """
    found = interactive(SPECS["one name"])
    assert ["span", "moment"] == [param["name"] for param in found["params"]]
    assert found["layer"][0]["encoding"]["color"]["legend"] is None


def test_tip_of_a_moment() -> None:
    """
    The day, or the minute, and every name's figure; what was not measured says so and is no 0.
    """
    rows = interactive(SPECS["area"])["layer"][-1]["data"]["values"]
    assert ("1 Nov 2026", "1,000", "1,001") == tuple(
        rows[0][k] for k in ("told", "value0", "value1")
    )
    strips = interactive(SPECS["tracks"])["vconcat"]
    assert "1 Nov 2026, 01:15" == strips[0]["layer"][-1]["data"]["values"][2]["told"]
    assert "not measured" == strips[0]["layer"][-1]["data"]["values"][2]["value0"]
    assert "0.25" == strips[1]["layer"][-1]["data"]["values"][1]["value0"]
    with spoken("fr"):
        rows = interactive(SPECS["area"])["layer"][-1]["data"]["values"]
        assert "1 nov. 2026" == rows[0]["told"]
        assert "1\u202f001" == rows[0]["value1"]
        assert (
            "novembre" in json.loads(draw_vega(SPECS["area"]))["config"]["locale"]["time"]["months"]
        )
    assert "locale" not in json.loads(draw_vega(SPECS["area"]))["config"]


def test_names_of_slices_follow_the_middle() -> None:
    """
    They stand beside the pie however wide it is drawn.
    """
    beside = [layer["mark"]["x"] for layer in interactive(SPECS["pie"])["layer"][1:]]
    assert all(place["expr"].startswith("width / 2 + ") for place in beside)


@pytest.mark.parametrize("name", SPECS)
def test_dashboards_compile_it(name: str) -> None:
    """
    The Vega-Lite of Kibana 8 and OpenSearch Dashboards 2 reads it as well, whatever names hold.
    """
    text = draw_vega(SPECS[name]).decode()
    assert vl_convert.vegalite_to_vega(text, vl_version="5.8")["marks"]
    assert vl_convert.vegalite_to_svg(text, vl_version="5.8").count("<path") > 1


@pytest.mark.parametrize("name", SPECS)
def test_hostile_names_are_values(name: str) -> None:
    """
    A script, a quote, a NUL: they stand in data, domains and titles, never in an expression or an
    address; control characters are gone.
    """
    found = compiled(SPECS[name])
    assert "\x00" not in json.dumps(found, ensure_ascii=False)
    expressions: list[str] = []

    def walk(part: Any) -> None:
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            assert key not in ("href", "url")
            if key in ("expr", "update", "signal", "test") and isinstance(value, str):
                expressions.append(value)
            if isinstance(value, dict | list):
                walk(value)

    walk(found)
    bare = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
    assert not any("alert" in bare.sub("", one) for one in expressions)
