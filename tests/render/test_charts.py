"""Charts: every kind draws, in colours told apart by all, with its unit, hatched where unknown."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from leadline.render.charts import (
    boxes,
    columns,
    dots,
    draw_file,
    draw_png,
    draw_svg,
    heat,
    histogram,
    lines,
    pie,
    ranking,
    scatter,
    stacked_area,
)
from leadline.render.charts.colours import HUES, OTHERS, PALETTE, assign, slot
from leadline.render.charts.render import HATCH
from leadline.render.charts.specs import colours

NAMES = ("VASP", "GROMACS", "others")
ROWS = [{"name": name, "value": 9 - 2 * place} for place, name in enumerate(NAMES)]
POINTS = [
    {"time": f"2026-11-{day:02d}T00:00:00Z", "name": name, "value": day}
    for day in range(1, 9)
    for name in NAMES
]
SPREAD = [{"name": "VASP", "low": 1, "middle": 2, "high": 7, "top": 9}]
CELLS = [{"across": "00", "down": "Mon", "value": 3}, {"across": "01", "down": "Tue", "value": 5}]
WEEK = (CELLS, ("00", "01"), ("Mon", "Tue"), "core hours")
GAP = [("2026-11-03T00:00:00Z", "2026-11-04T00:00:00Z")]

# Every kind, and how many marks it draws at least.
KINDS = {
    "bars": (ranking(ROWS, "core hours"), 3),
    "area": (stacked_area(POINTS, NAMES, "core hours"), 3),
    "lines": (lines(POINTS, NAMES, "core hours"), 3),
    "columns": (columns(ROWS, "core hours"), 3),
    "heat": (heat(*WEEK), 4),
    "pie": (pie(ROWS, "core hours"), 3),
    "dots": (dots(ROWS, "core hours"), 3),
    "scatter": (scatter([{"name": "a", "x": 1, "y": 2}], "jobs", "core hours"), 1),
    "histogram": (histogram(ROWS, "core hours", "classes"), 3),
    "box": (boxes(SPREAD, "core hours", ("least", "median", "90 %", "most")), 5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kind_draws_its_marks_and_says_its_unit(kind: str) -> None:
    """
    As many shapes as rows, and the unit in words.
    """
    spec, marks = KINDS[kind]
    svg = draw_file(spec)
    assert "core hours" in svg
    drawn = re.findall(r'<(?:path|line) aria-label="|class="mark-\w+ role-mark [^"]*"', svg)
    assert len(drawn) >= marks


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# How each kind of colour-blindness sees red, green and blue (Machado and others, severity 1).
SEEN = {
    "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritan": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def seen(colour: str, by: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return [sum(w * p for w, p in zip(row, parts, strict=True)) for row in SEEN[by]]


@pytest.mark.parametrize("by", SEEN)
def test_colours_are_told_apart_by_the_colour_blind(by: str) -> None:
    """
    No two of the palette come nearer than a step that is easily seen.
    """
    for one, other in combinations((*HUES, OTHERS), 2):
        pairs = zip(seen(one, by), seen(other, by), strict=True)
        distance = sum((a - b) ** 2 for a, b in pairs) ** 0.5
        assert distance > 20, (one, other)


def test_neighbours_are_told_apart_in_grey() -> None:
    """
    On a grey print bands have a line of paper between them, lines have dashes, slices their names.
    """
    area = draw_file(KINDS["area"][0])
    assert area.count('stroke="#fefefd" stroke-width="0.8"') == len(NAMES)
    assert len(set(re.findall(r'stroke-dasharray="([\d,]+)"', draw_file(KINDS["lines"][0])))) >= 2
    slices = draw_file(KINDS["pie"][0])
    assert all(name in slices for name in NAMES)
    assert luminance(OTHERS) > luminance(PALETTE[0])


def test_same_name_has_the_same_colour_in_every_kind() -> None:
    """
    A name's colour comes from the name; others are grey everywhere.
    """
    hues = colours(NAMES)
    assert hues["others"] == OTHERS
    for kind in ("bars", "area", "lines", "pie", "dots"):
        svg = draw_file(KINDS[kind][0])
        assert all(f'"{hue}"' in svg for hue in hues.values()), kind


def test_name_keeps_its_colour_whatever_stands_beside_it() -> None:
    """
    Of names that fall on one colour the smaller takes another shade; no name takes another's.
    """
    names = [f"program-{number}" for number in range(40)]
    clash = [name for name in names if slot(name) == slot(names[0])][:3]
    assert [place // len(PALETTE) for place in assign(clash).values()] == [0, 1, 2]
    for given in (names, names[::-1], names[3:]):
        assert {name: place % len(PALETTE) for name, place in assign(given).items()} == {
            name: slot(name) for name in given
        }


@pytest.mark.parametrize(
    "spec", [heat(*WEEK), stacked_area(POINTS, NAMES, "h", unmeasured=GAP)], ids=["heat", "area"]
)
def test_what_was_not_measured_is_hatched(spec: dict[str, object]) -> None:
    """
    A pattern, neither 0 nor paper, in the page as in the file; whatever is known is not hatched.
    """
    for svg in (draw_file(spec), draw_svg(spec, "a title")):
        assert 'fill="url(#hatch)"' in svg
        assert '<pattern id="hatch"' in svg
        assert HATCH not in svg
    whole = heat([{"across": "00", "down": "Mon", "value": 1}], ["00"], ["Mon"], "h")
    assert "hatch" not in draw_file(whole)


@pytest.mark.parametrize("kind", ["pie", "heat", "box"])
def test_picture_file_is_a_picture(kind: str) -> None:
    """
    PNG of twice the size, for print.
    """
    png = draw_png(KINDS[kind][0])
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) > 1200


def test_names_do_not_lie_upon_each_other() -> None:
    """
    Of dots in a heap the first has its name beside it, the others show theirs to the pointer.
    """
    near = [{"name": name, "x": 50 + n / 10, "y": 50} for n, name in enumerate("abc")]
    svg = draw_file(scatter([{"name": "far", "x": 100, "y": 100}, *near], "jobs", "hours"))
    labels = re.findall(r">(far|[abc])</text>", svg)
    assert labels == ["far", "a"]


def test_lines_of_one_colour_differ_in_their_dashes() -> None:
    """
    Of many names on one colour each line can still be told from the others.
    """
    names = [name for n in range(400) if slot(name := f"user-{n}") == 3][:7]
    points = [{"time": f"2026-11-0{d}", "name": name, "value": 1} for name in names for d in (1, 2)]
    encoding = lines(points, names, "h")["encoding"]
    looks = zip(
        encoding["color"]["scale"]["range"],  # type: ignore[index]
        map(str, encoding["strokeDash"]["scale"]["range"]),  # type: ignore[index]
        strict=True,
    )
    assert len(set(looks)) == len(names)


def test_common_programs_are_told_apart_by_colour() -> None:
    """
    Those that most centres run have a colour each, so that a picture of them needs no shades.
    """
    common = ["LAMMPS", "unmatched", "WRF", "OpenFOAM", "VASP"]
    common += ["CP2K", "NAMD", "NWChem", "GROMACS", "ORCA"]
    assert len({slot(name) for name in common}) == len(PALETTE)
