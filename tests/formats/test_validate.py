"""The gate: typed or refused, unknown fields kept, nothing but FormatError raised."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import FormatError
from leadline.formats import DATASETS, Document
from leadline.formats.validate import check, read_line


def sample(**fields: Any) -> Document:
    base: Document = {
        "@timestamp": "2026-11-21T04:00:00.000Z",
        "dataset": "process",
        "cluster": "fox",
        "host.name": "c1-7",
        "boot.id": "b1",
        "sample.uptime": 1000,
        "process.entity_id": "17-4",
        "process.pid": 17,
        "core_seconds": 12.5,
    }
    return base | {name.replace("__", "."): value for name, value in fields.items()}


def test_right_document_passes_unchanged() -> None:
    """
    A document whose every field is known and typed comes back as it was.
    """
    assert sample() == check(sample())


def test_second_of_a_shape_is_looked_at_too() -> None:
    """
    The remembered verdict on a shape does not let a bad value through.
    """
    check(sample())
    with pytest.raises(FormatError, match="core_seconds"):
        check(sample(core_seconds=-1.0))
    with pytest.raises(FormatError, match=r"process\.pid"):
        check(sample(process__pid=2**63))
    with pytest.raises(FormatError, match="@timestamp"):
        check(sample(**{"@timestamp": "2026-13-21T04:00:00.000Z"}))


def test_not_a_number_is_refused_whatever_its_shape() -> None:
    """
    NaN compares false with everything, and is still caught, also on the remembered path.
    """
    check(sample())
    with pytest.raises(FormatError, match="core_seconds"):
        check(sample(core_seconds=float("nan")))


def test_unknown_field_is_kept_under_labels() -> None:
    """
    A newer shipper's field is never dropped.
    """
    checked = check(sample(quantum__bits=3))
    assert checked["labels"] == {"quantum.bits": 3}


def test_checked_document_passes_again_unchanged() -> None:
    """
    Checking twice is checking once, labels included.
    """
    once = check(sample(quantum__bits=3))
    assert once == check(dict(once))


def test_nested_object_is_taken_as_dotted_names() -> None:
    """
    ECS senders that nest mean the same fields.
    """
    nested = sample(process__state="R")
    del nested["process.pid"]
    nested["process"] = {"pid": 17}
    assert check(nested)["process.pid"] == 17


@pytest.mark.parametrize("empty", [None, "", []])
def test_empty_is_absent(empty: object) -> None:
    """
    Not measured is absent: never null, never an empty text.
    """
    assert "process.state" not in check(sample(process__state=empty))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("process.pid", "17"),
        ("process.pid", 1.5),
        ("process.pid", True),
        ("core_seconds", [1]),
        ("process.name", 3),
        ("process.name", "x" * 2049),
        ("process.command_line", "x" * 8192),
        ("@timestamp", 1700000000),
        ("@timestamp", "2026-11-21T04:00:00"),
        ("@timestamp", "1969-11-21T04:00:00Z"),
        ("rolled_up", 1),
        ("program.tags", [1]),
        ("local.day", "yesterday"),
        ("labels", [1]),
        ("dataset", "proces"),
        ("dataset", {"a": 1}),
        ("process.entity_id", None),
    ],
)
def test_broken_value_is_refused_by_name(field: str, value: object) -> None:
    """
    What cannot be taken is refused, and the message names the field.
    """
    with pytest.raises(FormatError, match=field.replace(".", r"\.")):
        check({**sample(), field: value})


def test_times_are_kept_in_one_written_form() -> None:
    """
    The same instant is written the same way whatever zone it was sent in.
    """
    checked = check(sample(**{"@timestamp": "2026-11-21T05:00:00+01:00"}))
    assert checked["@timestamp"] == "2026-11-21T04:00:00.000Z"


def test_set_is_sorted_and_unique() -> None:
    """
    Sets are plain sets: order and repeats say nothing.
    """
    assert check(sample(program__tags=["b", "a", "b"]))["program.tags"] == ["a", "b"]


def test_nul_is_made_visible() -> None:
    """
    A NUL in a command line survives as a sign every store can hold.
    """
    line = orjson.dumps(sample(process__command_line="a\0b"))
    assert read_line(line)["process.command_line"] == "a␀b"


def test_too_many_unknown_fields_are_refused() -> None:
    """
    Invented names cannot grow a document without bound.
    """
    with pytest.raises(FormatError, match="labels"):
        check({**sample(), **{f"x{n}": n for n in range(300)}})


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_arbitrary_bytes_raise_only_format_error(line: bytes) -> None:
    """
    Whatever bytes arrive, the gate either takes them or raises FormatError.
    """
    with pytest.raises(FormatError):
        read_line(line)


NAMES = sorted({field.name for d in DATASETS.values() for field in d.fields})
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=10), JSON, max_size=12))
@settings(max_examples=400, deadline=None)
def test_arbitrary_objects_raise_only_format_error(fields: dict[str, Any]) -> None:
    """
    Known names with any values: taken or refused, and what is taken passes again unchanged.
    """
    raw = {**sample(), **fields}
    try:
        once = read_line(orjson.dumps(raw, option=orjson.OPT_PASSTHROUGH_SUBCLASS))
    except (FormatError, orjson.JSONEncodeError):
        return
    assert once == check(dict(once))
