"""
What samples do not know and their run does: its state, its size, how long it waited and ran.

Samples name their run, and the scheduler's accounts know the rest: a question by such a thing is
asked by run and joined. Samples of no run that was accounted are a row of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from leadline.errors import QuestionError
from leadline.query.compile import runs_within
from leadline.query.dimensions import Dimension, dimension
from leadline.query.measure import JOINED
from leadline.query.parts import Key, Parts, Table, join_parts
from leadline.store.contract import Store
from leadline.store.plan import Plan, Scalar
from leadline.store.scope import Scope

RUN = "run"
Facts = Mapping[Scalar | None, Key]  # by run
Ask = Callable[[Plan, Sequence[Dimension], str | None], Table]


def facts_of(plan: Plan, asked: Sequence[Dimension], store: Store, scope: Scope) -> Facts:
    """
    What accounts say of the runs in PLAN's span.
    """
    groups = tuple(known.group_in("job") for known in asked)
    runs = runs_within(plan.start, plan.end)
    rows = store.ask(replace(runs, by=(*runs.by, *groups)), scope)
    return {row["job.run"]: tuple(row[group.field] for group in groups) for row in rows}


def by_run(
    plan: Plan, by: Sequence[Dimension], bucket: str | None, facts: Facts, ask: Ask
) -> Table:
    """
    Rows by BY and BUCKET, joined from rows by run.
    """
    functions = {a.name: a.function for a in plan.aggregates}
    told = [known for known in by if known.by_run_in(plan.dataset)]
    if not all(function in JOINED for function in functions.values()):
        names = " and ".join(known.name for known in told)
        raise QuestionError(
            f"by {names}: samples only name their run, so only what adds up is told; "
            "ask a sum, a mean or a count"
        )
    asked = [known for known in by if known not in told]
    if RUN not in [known.name for known in asked]:
        asked.append(dimension(RUN))
    cut, unknown = len(asked), (None,) * len(told)
    members: dict[Key, list[Parts]] = {}
    for key, parts in ask(plan, asked, bucket).items():
        values = {known.name: value for known, value in zip(asked, key[:cut], strict=True)}
        own = facts.get(values[RUN], unknown)
        values |= {known.name: value for known, value in zip(told, own, strict=True)}
        at = (*(values[known.name] for known in by), *key[cut:])
        members.setdefault(at, []).append(parts)
    return {key: join_parts(functions, several) for key, several in members.items()}
