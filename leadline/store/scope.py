"""
Who is asking. Every question carries a scope, so that no caller can forget it.

Every store calls `allow_documents` before it hands out documents or command lines and
`allow_plan` before it answers a plan; both refuse what someone who may see only totals asks. The
public sees totals of several users only (`least`), which no single plan can promise: it is answered
by leadline.query.ask, and every plan of its own is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from leadline.errors import NotAllowedError
from leadline.store.plan import Condition, Function, Op, Plan

# Fields that name one person or what one person ran; whoever sees totals only may count them.
PERSONAL = ("user.name", "user.id", "process.", "command.", "job.", "event.", "file.", "message")
HARMLESS = (
    *("job.state", "job.class", "job.source", "job.scheduler", "job.reservation", "job.cores"),
    "job.memory.basis",  # how a peak was measured
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """
    What the asker may see: everything, or only documents of some users or groups, or totals only.
    """

    everything: bool = False
    users: frozenset[str] = field(default_factory=frozenset)
    groups: frozenset[str] = field(default_factory=frozenset)
    totals_only: bool = False
    least: int = 0  # users behind a figure, of totals only; fewer are not told

    def conditions(self) -> tuple[Condition, ...]:
        """
        What must hold in addition, any one of them, for a document to be seen; () is no limit.
        """
        if self.everything or self.totals_only:
            return ()
        return (
            Condition("user.name", Op.IN, tuple(sorted(self.users))),
            Condition("user.group", Op.IN, tuple(sorted(self.groups))),
        )

    def allow_documents(self) -> None:
        if self.totals_only:
            raise NotAllowedError(
                "documents and command lines are not shown to who may see totals only"
            )

    def allow_plan(self, plan: Plan) -> None:
        """
        Refuse a plan that groups by, filters on or prints what is personal, under totals only.
        """
        if self.least:
            raise NotAllowedError("who may see only totals of several users asks for no parts")
        if not self.totals_only:
            return
        used = [group.field for group in plan.by]
        for conditions in (plan.where, *plan.without):
            used += [condition.field for condition in conditions if _names(condition)]
        for aggregate in plan.aggregates:
            used += [condition.field for condition in aggregate.where if _names(condition)]
            # The least and the greatest of a text is a text: somebody's name.
            if aggregate.function in (Function.MIN, Function.MAX):
                used.append(aggregate.field)
        for name in used:
            if personal(name):
                raise NotAllowedError(f"{name}: not answered to who may see totals only")


EVERYTHING = Scope(everything=True)
LEAST = 5  # users: a figure of fewer says too much of each
PUBLIC = Scope(totals_only=True, least=LEAST)


def personal(name: str) -> bool:
    return name.startswith(PERSONAL) and name not in HARMLESS and not _measured(name)


def _names(condition: Condition) -> bool:
    """
    Whether there is somebody at all says of nobody who it is.
    """
    return condition.op not in (Op.EXISTS, Op.MISSING)


def _measured(name: str) -> bool:
    """
    A measured amount is nobody's name, whoever it belongs to.
    """
    return name.endswith((".seconds", ".bytes", ".count", ".percent", "_seconds", "_count"))
