"""
Grants in a picture over time: a dashed line at the pace that would use them up evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from leadline.language import _
from leadline.query import Answer
from leadline.query.measure import Measure
from leadline.query.periods import midnight, move
from leadline.query.question import Question
from leadline.render.charts import ruled
from leadline.reports.allocations import thresholds
from leadline.reports.grants import Grant
from leadline.reports.picture import best_bucket, shown


def with_grants(
    spec: Mapping[str, Any],
    asked: Question,
    answer: Answer,
    measure: Measure,
    grants: Sequence[Grant],
    clusters: Sequence[str] = (),
) -> dict[str, Any]:
    """
    SPEC, drawn of ANSWER, with what GRANTS give for each of its steps of time. As it is where it
    is not over time, or where nothing was granted of what it shows: a grant on one cluster says
    nothing of all CLUSTERS together.
    """
    named = any(known.dimension == "cluster" for known in answer.question.where)
    if not named:
        grants = [one for one in grants if one.cluster is None or [one.cluster] == [*clusters]]
    bucket = asked.bucket or best_bucket(answer)
    asked = replace(answer.question, measures=(measure.name,), bucket=bucket, order="")
    found = thresholds(replace(answer, question=asked), grants) if over_time(spec) else ()
    if not found or not found[0].by_time:
        return dict(spec)
    zone, period = answer.period.zone, answer.period
    points = []
    for label, hours in found[0].by_time:
        day = date.fromisoformat(label)
        first, after = (midnight(known, zone) for known in (day, move(day, bucket, 1)))
        begin = max(first, period.start or first)
        part = (min(after, period.end or after) - begin) / (after - first)
        if hours > 0 and part > 0:
            points.append({"time": shown(label, zone), "value": round(hours / part, 4)})
    names = found[0].label.partition(": ")[2]
    return ruled(spec, points, _("granted: {names}").format(names=names), bucket=bucket)


def over_time(spec: Mapping[str, Any]) -> bool:
    layers = spec.get("layer", [spec])
    across = layers[0].get("encoding", {}).get("x", {})
    return across.get("field") == "time" and "vconcat" not in spec
