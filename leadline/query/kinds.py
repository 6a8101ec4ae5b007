"""
Kinds of nodes: documents name their node, and the inventory knows what kind it is.

A question by kind of node is asked by node and joined; the kind a node has now counts for all of
its past.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from leadline.errors import QuestionError
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


def of_kind(plan: Plan, kinds: Kinds, kind: str | None) -> Plan:
    """
    PLAN on the nodes of one kind; None: on those nobody knows the kind of.
    """
    hosts = hosts_of(kinds, {kind}) if kind is not None else hosts_of(kinds, {*kinds.values()})
    condition = Condition("host.name", Op.IN if kind is not None else Op.NOT_IN, hosts)
    return replace(plan, where=(*plan.where, condition))


def hosts_of(kinds: Kinds, wanted: Collection[str | None]) -> tuple[str, ...]:
    found = {host for (_, host), kind in kinds.items() if kind in wanted}
    clash = found & {host for (_, host), kind in kinds.items() if kind not in wanted}
    if clash:
        raise QuestionError(
            f"node_type: {min(clash)} is of one kind here and of another on another cluster; "
            "ask `by host`, or a measure that adds up"
        )
    return tuple(sorted(found))


def kind_conditions(known: Filter, store: Store) -> list[Condition]:
    """
    A filter on the kind of node as conditions on nodes.
    """
    kinds = node_kinds(store)
    exact = {value for value in known.values if isinstance(value, str)}
    starts = tuple(value.text for value in known.values if isinstance(value, Prefix))
    wanted = {kind for kind in kinds.values() if kind in exact or kind.startswith(starts)}
    if None not in known.values:
        op = Op.NOT_IN if known.negated else Op.IN
        return [Condition("host.name", op, hosts_of(kinds, wanted))]
    rest = set(kinds.values()) - wanted
    op = Op.IN if known.negated else Op.NOT_IN
    return [Condition("host.name", op, hosts_of(kinds, rest))]
