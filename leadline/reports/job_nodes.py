"""
Every node a job had, also those on which no process of it was seen.
"""

from __future__ import annotations

from leadline.formats import Document
from leadline.reports.profile import Node, Seen
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING


def all_nodes(store: Store, job: str, record: Document, seen: Seen) -> tuple[Node, ...]:
    """
    A node that was looked at, and where the job had nothing, kept no core busy; of one that was
    not looked at nothing is known. That somebody looked is nobody's secret.
    """
    hosts = record.get("job.nodes")
    known = {node.host for node in seen.nodes}
    rest = [str(host) for host in hosts if host not in known] if isinstance(hosts, list) else []
    if not rest:
        return seen.nodes
    looked = set()
    if seen.profile.samples:
        where = (
            Condition("cluster", Op.IN, (job.partition("/")[0],)),
            Condition("host.name", Op.IN, tuple(rest)),
        )
        counted = (Aggregate("n", Function.COUNT),)
        start, end = seen.profile.start, seen.profile.end
        plan = Plan("node", counted, (Group("host.name"),), where, start, end)
        looked = {str(row["host.name"]) for row in store.ask(plan, EVERYTHING)}
    others = [Node(host, 0.0 if host in looked else None, None) for host in rest]
    return tuple(sorted((*seen.nodes, *others), key=lambda node: node.host))
