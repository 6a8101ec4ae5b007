"""
Names of nodes on both sides: what the scheduler has, and what sends samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from leadline.formats.nodestate import REMOVED
from leadline.reports.nodes import Fleet, Host

SHOWN = 10  # names told of many


@dataclass(frozen=True, slots=True)
class Names:
    """
    `written` are pairs that are one node in two spellings: the scheduler's, and the sender's.
    """

    both: tuple[Host, ...]
    silent: tuple[Host, ...]  # the scheduler has them, they send no samples
    strange: tuple[Host, ...]  # they send samples, the scheduler does not have them
    written: tuple[tuple[Host, Host], ...]


def short_name(host: Host) -> Host:
    """
    `gpu-2` of `GPU-2.fox`: the name documents should have.
    """
    return host[0], host[1].partition(".")[0].lower()


def _own_names(fleet: Fleet, hosts: Iterable[Host]) -> dict[Host, Host]:
    """
    Nodes of the scheduler by what they may call themselves; a name of several says nothing.
    """
    found: dict[Host, set[Host]] = {}
    for host in hosts:
        own = str(fleet.latest(host).get("host.hostname", host[1]))
        for name in (short_name(host), short_name((host[0], own))):
            found.setdefault(name, set()).add(host)
    return {name: next(iter(which)) for name, which in found.items() if len(which) == 1}


def names(fleet: Fleet) -> Names:
    """
    Machines of clusters whose scheduler is asked. A login node is strange, and nothing is wrong.
    """
    scheduler = {h for h in fleet.changes if fleet.latest(h).get("state.name") != REMOVED}
    clusters = {cluster for cluster, _ in scheduler}
    senders = {host for host in fleet.seen if host[0] in clusters}
    silent, strange = scheduler - senders, senders - scheduler
    called = _own_names(fleet, silent)
    written = tuple(
        (called[short_name(host)], host) for host in sorted(strange) if short_name(host) in called
    )
    paired = {host for pair in written for host in pair}
    return Names(
        tuple(sorted(scheduler & senders)),
        tuple(sorted(silent - paired)),
        tuple(sorted(strange - paired)),
        written,
    )


def differences(fleet: Fleet) -> list[str]:
    """
    One line for each cluster and kind: for people.
    """
    found = names(fleet)
    pairs = [
        f"{a[0]}/{a[1]}: the scheduler's name of what sends as {b[1]}: one node, write it so"
        for a, b in found.written
    ]
    return [
        *pairs[:SHOWN],
        *_lines(found.silent, "known to the scheduler, without samples"),
        *_lines(found.strange, "sending samples, unknown to the scheduler"),
    ]


def _lines(hosts: Iterable[Host], what: str) -> Iterator[str]:
    by_cluster: dict[str, list[str]] = {}
    for cluster, name in hosts:
        by_cluster.setdefault(cluster, []).append(name)
    for cluster, own in by_cluster.items():
        yield f"{cluster}: {what} ({len(own)}): {shown(own)}"


def shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
