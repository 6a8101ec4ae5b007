"""
Kinds of nodes: documents name their node, and the inventory knows what kind it is.

A question by kind of node is asked by node and joined; the kind a node has now counts for all of
its past.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from leadline.errors import QuestionError
from leadline.query.dimensions import node_field
from leadline.query.measure import JOINED
from leadline.query.question import Filter, Prefix
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

Kinds = dict[tuple[str, str], str]  # by cluster and host

TOLD_BY = ("capacity", "node_state", "node")  # the first that knows any


def node_kinds(store: Store) -> Kinds:
    """
    What kind each node is; what a node is is nobody's secret.
    """
    for dataset in TOLD_BY:
        plan = Plan(
            dataset,
            (Aggregate("last", Function.MAX, "@timestamp"),),
            (Group("cluster"), Group("host.name"), Group("node.type")),
            (Condition("node.type", Op.EXISTS),),
        )
        rows = sorted(store.ask(plan, EVERYTHING), key=lambda row: str(row["last"]))
        if rows:
            return {(str(r["cluster"]), str(r["host.name"])): str(r["node.type"]) for r in rows}
    return {}


def of_kind(plan: Plan, kinds: Kinds, kind: str | None) -> list[Plan]:
    """
    PLAN on the nodes of one kind; None: on those nobody knows the kind of. Several plans, whose
    rows join, where clusters call nodes of different kinds the same.
    """
    joins = all(aggregate.function in JOINED for aggregate in plan.aggregates)
    wanted = {kind} if kind is not None else {*kinds.values()}
    op = Op.IN if kind is not None else Op.NOT_IN
    if joins and _clash(kinds, wanted):
        clusters = sorted({cluster for cluster, _ in kinds})
        found = []
        for name in clusters:
            own = {key: known for key, known in kinds.items() if key[0] == name}
            hosts = _on(plan.dataset, op, hosts_of(own, wanted))
            found.append(narrowed(plan, Condition("cluster", Op.IN, (name,)), hosts))
        if kind is None:
            found.append(narrowed(plan, Condition("cluster", Op.NOT_IN, tuple(clusters))))
        return found
    return [narrowed(plan, _on(plan.dataset, op, hosts_of(kinds, wanted)))]


def on_kind(dataset: str, kinds: Kinds, kind: str | None) -> Condition:
    """
    What documents of one kind of node have in common.
    """
    if kind is None:
        return _on(dataset, Op.NOT_IN, hosts_of(kinds, {*kinds.values()}))
    return _on(dataset, Op.IN, hosts_of(kinds, {kind}))


def narrowed(plan: Plan, *where: Condition) -> Plan:
    return replace(plan, where=(*plan.where, *where))


def _on(dataset: str, op: Op, hosts: tuple[str, ...]) -> Condition:
    field = node_field(dataset)
    assert field is not None
    return Condition(field, op, hosts)


def _clash(kinds: Kinds, wanted: Collection[str | None]) -> set[str]:
    found = {host for (_, host), kind in kinds.items() if kind in wanted}
    return found & {host for (_, host), kind in kinds.items() if kind not in wanted}


def hosts_of(kinds: Kinds, wanted: Collection[str | None]) -> tuple[str, ...]:
    if clash := _clash(kinds, wanted):
        raise QuestionError(
            f"node_type: {min(clash)} is of one kind here and of another on another cluster; "
            "ask `by host`, or a measure that adds up"
        )
    return tuple(sorted({host for (_, host), kind in kinds.items() if kind in wanted}))


def kind_conditions(known: Filter, store: Store, dataset: str) -> list[Condition]:
    """
    A filter on the kind of node as conditions on nodes.
    """
    kinds = node_kinds(store)
    exact = {value for value in known.values if isinstance(value, str)}
    starts = tuple(value.text for value in known.values if isinstance(value, Prefix))
    wanted = {kind for kind in kinds.values() if kind in exact or kind.startswith(starts)}
    op = Op.NOT_IN if known.negated else Op.IN
    if None in known.values:
        if node_field(dataset) == "job.nodes" and wanted:
            raise QuestionError(f"where {known}: ask for (none) on its own")
        wanted = set(kinds.values()) - wanted
        op = Op.IN if known.negated else Op.NOT_IN
    return [_on(dataset, op, hosts_of(kinds, wanted))]
