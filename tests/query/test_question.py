"""
A question's text form says all of it, and reads back as the same question.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import QuestionError
from leadline.query.question import (
    BUCKETS,
    Filter,
    Prefix,
    Question,
    parse_filters,
    parse_question,
    question,
)

NAMES = st.sampled_from(["user", "program", "host", "cluster", "hour_of_day"])
TEXTS = st.one_of(
    st.sampled_from(["alice", "by", "top", "(none)", "c1-*", "a b", 'q"', "\\", "", "x=1", "ø,|"]),
    st.text(max_size=8),
)
VALUES = st.one_of(TEXTS, st.none(), TEXTS.map(Prefix))
FILTERS = st.builds(
    Filter, NAMES, st.lists(VALUES, min_size=1, max_size=3, unique=True).map(tuple), st.booleans()
)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    measures = draw(
        st.lists(st.sampled_from(["jobs", "users", "samples"]), min_size=1, unique=True)
    )
    by = draw(st.lists(NAMES, max_size=3, unique=True))
    bucket = draw(st.none() | st.sampled_from(BUCKETS))
    return question(
        measures=tuple(measures),
        by=(*by, *([bucket] if bucket else [])),
        where=tuple(draw(st.lists(FILTERS, max_size=3))),
        period=draw(st.sampled_from(["last 30 days", "2026-10..2026-11", "all", "today", ""])),
        top=draw(st.none() | st.integers(1, 99)),
        order=draw(st.sampled_from(["", *measures, *by])),
        ascending=draw(st.booleans()),
    )


@given(questions())
def test_text_form_round_trips(asked: Question) -> None:
    """
    Parsing a question's text gives the very same question.
    """
    assert asked == parse_question(str(asked))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """
    Text is read as a question or refused; nothing else is ever raised.
    """
    with suppress(QuestionError):
        assert parse_question(text) is not None


def test_the_form_people_type() -> None:
    """
    The example of the manual reads as what it says, and prints as it was typed.
    """
    text = "core_hours_used by program where cluster=fox, user=alice during last 30 days top 10"
    asked = parse_question(text)
    assert asked == Question(
        ("core_hours_used",),
        ("program",),
        (Filter("cluster", ("fox",)), Filter("user", ("alice",))),
        "last 30 days",
        top=10,
    )
    assert text == str(asked)


def test_lists_prefixes_and_absence() -> None:
    """
    A comma without a sign goes on with the list; a star makes a prefix, (none) is absence.
    """
    assert (
        Filter("user", ("alice", "bob", None)),
        Filter("host", (Prefix("c1-"),), negated=True),
        Filter("program", ("c1-*",)),
    ) == parse_filters('user=alice, bob | (none), host!=c1-*, program="c1-*"')


def test_a_time_bucket_among_dimensions() -> None:
    """
    `by user, month` and `by user per month` are one question.
    """
    assert parse_question("jobs by user, month") == parse_question("jobs by user per month")


@pytest.mark.parametrize(
    "text",
    [
        "jobs by",
        "jobs by user by host",
        "jobs users",
        "jobs top many",
        "jobs where user",
        "jobs where user=",
        "jobs where =x",
        'jobs where user="alice',
        "jobs per fortnight",
        "jobs by day, month",
        "jobs order users",
        "jobs, jobs",
        "jobs top 0",
    ],
)
def test_half_a_question_is_refused(text: str) -> None:
    """
    What cannot be meant is refused with the place.
    """
    with pytest.raises(QuestionError):
        parse_question(text)
