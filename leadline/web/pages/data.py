"""
The data page: what is kept, how fresh and how complete it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import render_template

from leadline.formats import DATASETS
from leadline.formats.times import parse_time
from leadline.query import Filter, Question
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import address
from leadline.web.sentences import clusters, sureness
from leadline.web.words import ago, number, percent, size


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    meaning: str
    documents: str
    size: str
    each: str
    oldest: str
    newest: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str = ""
    lines: Sequence[Line] = ()
    problems: Sequence[str] = ()
    silent: Sequence[tuple[str, str]] = ()
    unmatched: str = ""
    unmatched_link: str = ""
    notes: Sequence[str] = ()
    empty: Sequence[str] = ()


def show() -> str:
    health = desk().health()
    if newest_sample() is None:
        page = Page("Data", "", problems=health.problems, empty=nothing_yet())
        return render_template("data.html", page=page, refresh=10)
    lines = [
        Line(
            name=name,
            meaning=DATASETS[name].meaning,
            documents=number(known.documents),
            size=size(known.bytes),
            each=number(known.bytes / known.documents, "hours") if known.documents else "–",
            oldest=known.oldest[:10] if known.oldest else "–",
            newest=ago(parse_time(known.newest), desk().site.clock()) if known.newest else "–",
        )
        for name, known in health.datasets.items()
    ]
    whole = Question(period="last 7 days")
    answer = desk().ask(whole)
    gap = Question(by=("shape",), where=(Filter("program", (None,)),), period="last 7 days", top=20)
    nameless = desk().ask(Question(where=gap.where, period=gap.period))
    total = answer.total["core_hours_used"]
    part = nameless.total["core_hours_used"]
    documents = sum(known.documents for known in health.datasets.values())
    kept = sum(known.bytes for known in health.datasets.values())
    page = Page(
        title="Data",
        clusters=clusters(),
        sentence=f"{number(documents)} documents in {size(kept)}, in the store {health.store}.",
        lines=lines,
        problems=health.problems,
        silent=[(host, percent(share)) for host, share in answer.coverage.silent[:100]],
        unmatched=percent(part / total) if part is not None and total else "",
        unmatched_link=address(gap),
        notes=sureness(answer),
    )
    return render_template("data.html", page=page)
