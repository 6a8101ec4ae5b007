"""
What a measure cannot be told apart by, why, and what could be asked instead.
"""

from __future__ import annotations

from leadline.query.dimensions import Dimension
from leadline.query.measure import Measure
from leadline.query.measures import measure
from leadline.store.plan import Condition, Op

CARD = "gpu_model"  # the dimension that asks card by card
WHY = {
    "process": "samples do not know it",
    "process_gpu": "samples of cards do not know it",
    "job_cgroup": "control groups only name their run",
    "job": "schedulers do not account it",
    "job_slice": "schedulers do not account it",
    "capacity": "it is of whole nodes, whoever used them",
}
CLOCKED = "a run is in every hour it ran"
RANKED = "samples only name their run, and ranks do not add up"
INSTEAD = {  # the first two that know it
    "job": ("jobs_started", "wall_hours", "core_hours_used", "jobs_sampled"),
    "process": ("memory_mean", "core_hours_used", "gpu_hours_busy", "gpu_hours_allocated"),
}
USUAL = ("core_hours_used", "core_hours_allocated", "gpu_hours_busy")


def knows(asked: Measure, known: Dimension) -> bool:
    """
    Whether the documents of a measure, their nodes or their runs know a dimension.
    """
    if asked.of:
        return all(knows(measure(name), known) for name in asked.of)
    if asked.cards is not None and known.name == CARD:
        asked = asked.cards
    return _why_not(asked, known) is None


def refusal(asked: Measure, known: Dimension) -> str:
    near = map(measure, INSTEAD.get(asked.dataset, USUAL))
    instead = ", ".join([m.name for m in near if knows(m, known)][:2])
    why = _why_not(asked, known)
    return f"{asked.name} is not told apart by {known.name}: {why}; ask {instead}"


def _why_not(asked: Measure, known: Dimension) -> str | None:
    if known.by_node_in(asked.dataset):
        return None
    if known.by_run_in(asked.dataset):
        return RANKED if asked.percentile else None
    field = known.field_in(asked.dataset)
    if field is None or Condition(field, Op.MISSING) in asked.where:
        return WHY[asked.dataset]
    return CLOCKED if known.clock and asked.running else None
