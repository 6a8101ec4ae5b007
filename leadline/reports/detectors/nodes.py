"""
Nodes and cards that are silent, failing, or looked at too seldom to tell much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import pairwise

from leadline.formats.counted import counted
from leadline.formats.times import format_time, parse_time
from leadline.render import duration
from leadline.reports.agreement import Agreement, agreement
from leadline.reports.finding import (
    COUNT,
    FIRST,
    LAST,
    Case,
    Finding,
    amount,
    greatest,
    groups,
    text,
    total,
)
from leadline.reports.names import SHOWN, names, shown
from leadline.reports.nodes import Host, fleet
from leadline.store.plan import Condition, Op

PLACE = groups("cluster", "host.name")
CLUSTER = groups("cluster")
BEFORE = timedelta(hours=1)  # a first sample speaks for some time before it


def silent(case: Case) -> list[Finding]:
    """
    Nodes that were heard in the window and are not any more. Where they are many, and most of
    their cluster, it is not the nodes: they are one finding.
    """
    gone: dict[str, list[tuple[str, str, float]]] = {}
    count: Counter[str] = Counter()
    for row in case.ask("node", PLACE, greatest("interval", "interval.seconds"), LAST):
        cluster, last = str(row["cluster"]), str(row["last"])
        count[cluster] += 1
        quiet = (min(case.now, case.end) - parse_time(last)).total_seconds()
        if quiet > max(case.limits.silent_seconds, 3 * amount(row, "interval")):
            gone.setdefault(cluster, []).append((str(row["host.name"]), last, quiet))
    found = []
    for cluster, nodes in gone.items():
        if len(nodes) > SHOWN and 2 * len(nodes) > count[cluster]:
            found.append(_silence(cluster, nodes, count[cluster]))
        else:
            found += [_silent(cluster, *node) for node in nodes]
    return found


def _silent(cluster: str, host: str, last: str, quiet: float) -> Finding:
    return Finding(
        kind="silent node",
        cluster=cluster,
        object=host,
        since=last,
        evidence=f"no heartbeat for {duration(quiet)}",
        remedy="look at the node; then at `systemctl status leadline-ship`",
        severity="red",
    )


def _silence(cluster: str, nodes: list[tuple[str, str, float]], count: int) -> Finding:
    names = sorted(host for host, _, _ in nodes)
    least = duration(min(quiet for _, _, quiet in nodes))
    return Finding(
        kind="silent node",
        cluster=cluster,
        object="most of its nodes",
        since=min(last for _, last, _ in nodes),
        evidence=f"{len(nodes)} of {counted(count, 'node')} without a heartbeat for {least}"
        f" or longer: {shown(names)}",
        remedy="look at the worker and the network: `leadline status`",
        severity="red",
    )


def failing_cards(case: Case) -> list[Finding]:
    """
    Cards whose driver reports a fault.
    """
    rows = case.ask(
        "gpu",
        (*PLACE, *groups("gpu.uuid")),
        COUNT,
        FIRST,
        LAST,
        greatest("reason", "gpu.failing_reason"),
        where=(Condition("gpu.failing", Op.IN, (True,)),),
    )
    return [
        Finding(
            kind="failing card",
            cluster=str(row["cluster"]),
            object=f"{row['host.name']}/{row['gpu.uuid']}",
            since=text(row, "first"),
            until=text(row, "last"),
            evidence=text(row, "reason") or f"failing in {counted(amount(row, 'n'), 'sample')}",
            remedy="drain the node",
            severity="red",
        )
        for row in rows
    ]


def few_samples(case: Case) -> list[Finding]:
    """
    Nodes covered for less of the time since they were first heard than their figures need.
    """
    found = []
    where = (Condition("job.id", Op.MISSING),)
    rows = case.ask("node", PLACE, total("seconds", "interval.seconds"), FIRST, LAST, where=where)
    for row in rows:
        length = (parse_time(str(row["last"])) - parse_time(str(row["first"]))).total_seconds()
        if row["seconds"] is None or length < 6 * 3600:
            continue
        share = amount(row, "seconds") / length
        if share < case.limits.sparse_share:
            found.append(
                Finding(
                    kind="few samples",
                    cluster=str(row["cluster"]),
                    object=str(row["host.name"]),
                    since=text(row, "first"),
                    until=text(row, "last"),
                    evidence=f"{100 * share:.0f} % of its time covered: its figures are too low",
                    remedy="`leadline status` says what its shipper waits for",
                )
            )
    return found


def same_name(case: Case) -> list[Finding]:
    """
    Machines that send under one name: boots of a machine follow each other, these run at once.
    """
    boots: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in case.ask("node", (*PLACE, *groups("boot.id")), FIRST, LAST, COUNT):
        if amount(row, "n") > 1 and row["boot.id"] is not None:
            place = str(row["cluster"]), str(row["host.name"])
            boots.setdefault(place, []).append((str(row["first"]), str(row["last"])))
    found = []
    for (cluster, host), spans in boots.items():
        spans.sort()
        pairs = list(pairwise(spans))
        if both := [
            (late[0], min(early[1], late[1])) for early, late in pairs if late[0] < early[1]
        ]:
            found.append(
                Finding(
                    kind="same name",
                    cluster=cluster,
                    object=host,
                    since=min(both)[0],
                    until=max(end for _, end in both),
                    evidence=f"{counted(len(both) + 1, 'machine')} send under this name at once:"
                    " their figures are mixed up",
                    remedy="set collect.host on one of them",
                    severity="red",
                )
            )
    return found


def accounts_differ(case: Case) -> list[Finding]:
    """
    Clusters whose samples saw much less, or much more, than their scheduler accounted.
    """
    since = {str(row["cluster"]): str(row["first"]) for row in case.ask("process", CLUSTER, FIRST)}
    found = []
    for one in _agreed(case, since):
        accounted = one.accounted + one.unseen_hours
        if one.share is None:
            continue
        apart = abs(one.sampled - accounted)
        agrees = case.limits.agree_share <= one.share <= 1 / case.limits.agree_share
        if not agrees and apart >= case.limits.agree_core_hours:
            found.append(
                Finding(
                    kind="accounts differ",
                    cluster=one.cluster,
                    object="samples and accounts",
                    since=since[one.cluster],
                    until=format_time(case.end),
                    evidence=one.told,
                    remedy="look at jobs of both, `leadline job` shows the two figures",
                    hours=apart,
                )
            )
    return found


def _agreed(case: Case, since: Mapping[str, str]) -> Iterator[Agreement]:
    """
    Of each cluster SINCE its first sample: what was accounted before it could not be seen.
    """
    for cluster, first in since.items():
        start = max(case.start, parse_time(first) - BEFORE)
        told = agreement(case.store, case.scope, start, case.end)
        yield from (one for one in told if one.cluster == cluster)


def node_names(case: Case) -> list[Finding]:
    """
    Nodes that the scheduler and the samples do not agree on, one finding a cluster and kind.

    A machine that only sends is told where jobs ran on it: login nodes do so, and nothing is wrong.
    """
    found = names(fleet(case.store, case.scope, case.start, case.end, case.where))
    rows = case.ask("process", PLACE, COUNT, where=(Condition("job.run", Op.EXISTS),))
    ran = {(str(row["cluster"]), str(row["host.name"])) for row in rows}
    hearing = {cluster for cluster, _ in found.both}
    return [
        *_named(
            [host for _, host in found.written],
            "spelt otherwise",
            "the scheduler writes these names otherwise",
            "set collect.host there to the scheduler's short name",
        ),
        *_named(
            [host for host in found.silent if host[0] in hearing],
            "without samples",
            "the scheduler has them, they send no samples",
            "install or start the shipper there",
        ),
        *_named(
            [host for host in found.strange if host in ran],
            "without a scheduler",
            "jobs ran there, the scheduler that is asked does not have them",
            "set collect.host there to the scheduler's name of it, or collect.cluster",
        ),
    ]


def _named(hosts: list[Host], about: str, what: str, remedy: str) -> list[Finding]:
    found = []
    for cluster in sorted({cluster for cluster, _ in hosts}):
        own = [name for where, name in hosts if where == cluster]
        found.append(
            Finding(
                kind="node names",
                cluster=cluster,
                object=f"nodes {about}",  # the same however many: a finding is known by it
                evidence=f"{what} ({len(own)}): {shown(own)}",
                remedy=remedy,
            )
        )
    return found
