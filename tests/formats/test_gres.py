"""Generic resources: every spelling read, nothing counted twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import FormatError
from leadline.formats.gres import (
    Gres,
    by_model,
    counts,
    model,
    parse_gres,
    parse_memory,
    parse_tres,
    total,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu:rtx8000:8(S:0-1)", [Gres("gpu", "rtx8000", 8, "S:0-1")]),
        ("gpu:rtx8000:8(IDX:0-7)", [Gres("gpu", "rtx8000", 8, "IDX:0-7")]),
        ("gpu:rtx8000:2(IDX:0,3)", [Gres("gpu", "rtx8000", 2, "IDX:0,3")]),
        ("gpu:a100_1g.5gb:7", [Gres("gpu", "a100_1g.5gb", 7)]),
        ("gpu:8", [Gres("gpu", None, 8)]),
        ("gpu", [Gres("gpu", None, 1)]),
        ("gpu:a100", [Gres("gpu", "a100", 1)]),
        ("tpu:0", [Gres("tpu", None, 0)]),
        ("(null)", []),
        ("N/A", []),
        ("", []),
        (None, []),
        ("gres/gpu=4,gres/gpu:a100=4", [Gres("gpu", None, 4), Gres("gpu", "a100", 4)]),
        ("cpu=8,mem=16G,node=1,billing=8,gres/gpu=2", [Gres("gpu", None, 2)]),
        (
            "gpu:a100:2(S:0),shard:a100:64",
            [Gres("gpu", "a100", 2, "S:0"), Gres("shard", "a100", 64)],
        ),
        ("gres:gpu:2", [Gres("gpu", None, 2)]),
        ("lustre:4K", [Gres("lustre", None, 4096)]),
    ],
)
def test_spelling_is_read(text: str | None, expected: list[Gres]) -> None:
    """
    What Slurm's commands print in one place or another is understood.
    """
    assert expected == list(parse_gres(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gres/gpu=4,gres/gpu:a100=4", {"a100": 4}),
        ("gres/gpu:a100=4,gres/gpu=4", {"a100": 4}),
        ("gres/gpu=6,gres/gpu:a100=4", {"a100": 4, None: 2}),
        ("gres/gpu:a100=2,gres/gpu:v100=2", {"a100": 2, "v100": 2}),
        ("gpu:a100:2,gpu:a100:2", {"a100": 4}),
        ("gpu:8", {None: 8}),
        ("cpu=4", {}),
    ],
)
def test_nothing_is_counted_twice(text: str, expected: dict[str | None, int]) -> None:
    """
    An untyped entry is the total of which the typed ones are a part, in whatever order they come.
    """
    assert expected == counts(parse_gres(text))
    assert sum(expected.values()) == total(parse_gres(text))


NAMES = st.sampled_from(["gpu", "tpu", "shard", "craynetwork"])
TYPES = st.none() | st.sampled_from(["a100", "rtx8000", "a100_1g.5gb", "v100-32", "mi250x"])
ENTRIES = st.builds(
    Gres, NAMES, TYPES, st.integers(0, 10**6), st.sampled_from(["", "S:0-1", "IDX:0,3-5"])
)


@given(st.lists(ENTRIES, max_size=6))
def test_text_form_round_trips(entries: list[Gres]) -> None:
    """
    What is written is read back as it was.
    """
    assert tuple(entries) == parse_gres(",".join(map(str, entries)))


@given(st.lists(ENTRIES, max_size=6))
def test_total_is_the_greater_view(entries: list[Gres]) -> None:
    """
    The total is what the untyped or what the typed entries say, whichever is more: never the sum.
    """
    typed = sum(one.count for one in entries if one.name == "gpu" and one.type)
    untyped = sum(one.count for one in entries if one.name == "gpu" and not one.type)
    assert max(typed, untyped) == total(entries)


@given(st.text(max_size=60))
def test_any_text_raises_only_format_error(text: str) -> None:
    """
    A resource text of a version nobody has seen is read or refused, never a crash.
    """
    for reader in (parse_gres, parse_tres, parse_memory):
        try:
            reader(text)
        except FormatError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_memory_units() -> None:
    """
    Slurm counts memory in powers of 1024, in megabytes when no unit stands there.
    """
    assert 384 * 1024**3 == parse_memory("384G")
    assert 4000 * 1024**2 == parse_memory("4000")
    assert int(1.5 * 1024**4) == parse_memory("1.5T")
    assert {"cpu": 8, "mem": 16 * 1024**3} == parse_tres("cpu=8,mem=16G")


def test_models_are_harmonised_and_strangers_stay() -> None:
    """
    Names in the table become one; a name that is not there stays visible as it was written.
    """
    assert "RTX 8000" == model("rtx8000") == model("Quadro_RTX_8000")
    assert "A100 MIG 1g.5gb" == model("a100_1g.5gb")
    assert "zx81" == model("zx81")
    assert {"A100": 2, "unknown": 1, "zx81": 1} == by_model(
        parse_gres("gpu:4,gpu:a100:2,gpu:zx81:1")
    )
