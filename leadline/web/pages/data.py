"""
The data page: what is kept, how fresh and how complete it is, what was left out, who sends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from flask import render_template, url_for

from leadline.formats import DATASETS
from leadline.formats.times import parse_time
from leadline.language import _, ngettext
from leadline.query import Filter, Question
from leadline.store.contract import DatasetHealth
from leadline.store.plan import Aggregate, Function
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import address
from leadline.web.pages.fleet import HOUR, WHOLE, amount, asked
from leadline.web.sentences import clusters, sureness
from leadline.web.words import ago, day, number, percent, size

WEEK = timedelta(days=7)
MOST = 100
COUNTERS = ("read", "sent", "dropped_by_rule", "dropped_by_bound")


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
class Sender:
    """
    Nodes that run one version of the shipper.
    """

    version: str
    nodes: str
    waiting: str
    lag: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str = ""
    lines: Sequence[Line] = ()
    problems: Sequence[str] = ()
    silent: Sequence[tuple[str, str, str]] = ()
    silent_more: str = ""
    unmatched: str = ""
    unmatched_link: str = ""
    counted: Sequence[tuple[str, str, str]] = ()
    rejected: Sequence[tuple[str, str]] = ()
    rejects_known: bool = False
    senders: Sequence[Sender] = ()
    rules: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    empty: Sequence[str] = ()


def show() -> str:
    health = desk().health()
    if newest_sample() is None:
        page = Page(_("Data"), "", problems=health.problems, empty=nothing_yet())
        return render_template("data.html", page=page, refresh=10)
    answer = desk().ask(Question(period="last 7 days"))
    gap = Question(by=("shape",), where=(Filter("program", (None,)),), period="last 7 days", top=20)
    nameless = desk().ask(Question(where=gap.where, period=gap.period))
    total, part = answer.total["core_hours_used"], nameless.total["core_hours_used"]
    documents = sum(known.documents for known in health.datasets.values())
    kept = sum(known.bytes for known in health.datasets.values())
    silent = answer.coverage.silent
    rejects = desk().site.rejected
    page = Page(
        title=_("Data"),
        clusters=clusters(),
        sentence=ngettext(
            "{count} document in {size}, in the store {store}.",
            "{count} documents in {size}, in the store {store}.",
            documents,
        ).format(count=number(documents), size=size(kept), store=health.store),
        lines=[_line(name, known) for name, known in health.datasets.items()],
        problems=health.problems,
        silent=[(host, _node(host), percent(share)) for host, share in silent[:MOST]],
        silent_more=_more(len(silent) - MOST),
        unmatched=percent(part / total) if part is not None and total else "",
        unmatched_link=address(gap),
        counted=_counted(),
        rejected=[
            (reason, number(count))
            for reason, count in (desk().once(("rejected",), rejects) if rejects else ())
        ],
        rejects_known=rejects is not None,
        senders=_senders(),
        rules=_rules(),
        notes=sureness(answer),
    )
    return render_template("data.html", page=page)


def _line(name: str, known: DatasetHealth) -> Line:
    now, zone = desk().site.clock(), desk().site.zone
    return Line(
        name=name,
        meaning=_(DATASETS[name].meaning),
        documents=number(known.documents),
        size=size(known.bytes),
        each=number(known.bytes / known.documents, "hours") if known.documents else "–",
        oldest=day(parse_time(known.oldest).astimezone(zone).date()) if known.oldest else "–",
        newest=ago(parse_time(known.newest), now) if known.newest else "–",
    )


def _node(host: str) -> str:
    """
    With one cluster its name is left out of the answer's words.
    """
    cluster, _slash, name = host.rpartition("/")
    names = desk().clusters()
    cluster = cluster or (names[0] if len(names) == 1 else "")
    return url_for("node", cluster=cluster, host=name) if cluster else ""


def _more(count: int) -> str:
    if count <= 0:
        return ""
    return ngettext("and {count} more node", "and {count} more nodes", count).format(
        count=number(count)
    )


def _counted() -> list[tuple[str, str, str]]:
    """
    What shippers counted in the last week: made, acknowledged, left out on purpose and not.
    """
    end = desk().now.replace(minute=0, second=0, microsecond=0) + HOUR
    wanted = [Aggregate(name, Function.SUM, f"shipper.{name}") for name in COUNTERS]
    (row,) = asked("node", wanted, (), end - WEEK, end, WHOLE)
    if row["read"] is None:
        return []
    words = {
        "read": (_("made by shippers"), ""),
        "sent": (_("acknowledged by the worker"), ""),
        "dropped_by_rule": (_("left out by a filter"), _("on purpose: see the settings `collect`")),
        "dropped_by_bound": (
            _("dropped by the spool's bound"),
            _("not on purpose: the worker was away for longer than the bound allows"),
        ),
    }
    return [(words[name][0], number(amount(row, name)), words[name][1]) for name in COUNTERS]


def _senders() -> list[Sender]:
    """
    Versions of the shipper by the nodes that run them now, and how far behind they are.
    """
    now = desk().now
    wanted = (
        Aggregate("nodes", Function.DISTINCT, "host.name"),
        Aggregate("waiting", Function.MAX, "shipper.pending"),
        Aggregate("lag", Function.MAX, "shipper.lag.seconds"),
    )
    rows = asked("node", wanted, ("agent.version",), now - HOUR, now, WHOLE)
    return [
        Sender(
            version=str(row["agent.version"] or "–"),
            nodes=number(row["nodes"]),
            waiting=number(row["waiting"]),
            lag="–" if row["lag"] is None else _("{count} s").format(count=number(row["lag"])),
        )
        for row in sorted(rows, key=lambda row: str(row["agent.version"]), reverse=True)
    ]


def _rules() -> list[tuple[str, str]]:
    """
    Versions of the program rules that named the samples of the last day.
    """
    end = desk().now.replace(minute=0, second=0, microsecond=0) + HOUR
    counted = (Aggregate("samples", Function.COUNT),)
    rows = asked("process", counted, ("rules.version",), end - 24 * HOUR, end)
    ordered = sorted(rows, key=lambda row: -amount(row, "samples"))
    return [
        (str(row["rules.version"]), number(row["samples"]))
        for row in ordered
        if row["rules.version"] is not None
    ]
