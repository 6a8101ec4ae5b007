"""
Random questions on random documents: the lake answers what the naive store answers.

And what a naive reader computes by hand from the documents is what both answer.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from leadline.errors import QuestionError
from leadline.formats import DATASETS, Document
from leadline.formats.times import format_time
from leadline.query import (
    BUCKETS,
    DIMENSIONS,
    MEASURES,
    Answer,
    Filter,
    Prefix,
    ask,
    measure,
    question,
)
from leadline.query.measures import BY_NAME
from leadline.query.question import Question
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.query.judge import Judge, told

ZONE = ZoneInfo("Europe/Oslo")
OWN = {"betzy": ZoneInfo("America/New_York")}
BEGIN = datetime(2026, 10, 20, tzinfo=UTC)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SETS, QUESTIONS = 4, 130
SIZES = (1, 30, 400, 1500)

HOSTS = [f"c1-{number}" for number in range(6)]
PERIODS = ("all", "last 30 days", "2026-10", "2026-10-24..2026-10-26", "previous month", "2026-W44")


def documents(dice: random.Random, count: int) -> list[Document]:
    """
    Samples, heartbeats and jobs over four weeks and a clock change; any field may be absent.
    """
    makers = (_beat, slice_of, _card, _capacity)
    jobs = [_job(dice, number) for number in range(count // 3)]
    samples = [_process(dice, number) for number in range(count)]
    samples += [make(dice, number) for number in range(count // 3) for make in makers]
    for document in samples:
        if document["dataset"] in ("process", "process_gpu") and dice.random() < 0.7:
            document |= _run_at(dice, jobs, str(document["@timestamp"]))
    return [*samples, *jobs]


def _run_at(dice: random.Random, jobs: list[Document], moment: str) -> Document:
    ran = [
        job
        for job in dice.sample(jobs, min(len(jobs), 40))
        if "job.start" in job and str(job["job.start"]) <= moment <= str(job.get("job.end", "9"))
    ]
    return {"job.run": ran[0]["job.run"]} if ran else {}


def _common(dice: random.Random, dataset: str) -> Document:
    moment = BEGIN + timedelta(seconds=dice.randrange(32 * 86400))
    cluster = dice.choice(["fox", "betzy"])
    local = moment.astimezone(OWN.get(cluster, ZONE))
    return {
        "dataset": dataset,
        "@timestamp": format_time(moment),
        "cluster": cluster,
        "local.day": local.date().isoformat(),
        "local.hour": local.hour,
        "local.weekday": local.isoweekday(),
    }


def _process(dice: random.Random, number: int) -> Document:
    tags = sorted(dice.sample(["gpu", "mpi", "licensed"], dice.randrange(1, 4)))
    maybe: Document = {
        "user.name": dice.choice(["alice", "bob", "Åse", "o'b", "alicia"]),
        "user.group": dice.choice(["ml", "bio"]),
        "project": f"p{dice.randrange(5)}",
        "program.name": dice.choice(["VASP", "GROMACS", 'we"ird, =name']),
        "program.level1": dice.choice(["chemistry", "ai"]),
        "program.tags": tags,
        "job.id": f"fox/{dice.randrange(40)}",
        "core_seconds": round(dice.random() * 10 ** dice.randrange(6), 2),  # ticks of 10 ms
        "core_seconds_user": round(dice.random() * 100, 2),
        "core_seconds_system": round(dice.random() * 10, 2),
        "gpu_seconds": round(dice.random() * 1000, 2),
        "memory.rss.bytes": dice.randrange(2**36),
        "process.count": dice.randrange(1, 9),
        "io.read.bytes": dice.randrange(2**40),
    }
    kept = {name: value for name, value in maybe.items() if dice.random() < 0.8}
    return {
        **_common(dice, "process"),
        "host.name": f"c1-{dice.randrange(4)}",
        "boot.id": "b",
        "sample.uptime": number,
        "process.entity_id": f"{number % 50}-1",
        **kept,
    }


def _beat(dice: random.Random, number: int) -> Document:
    return {
        **_common(dice, "node"),
        "host.name": f"c1-{dice.randrange(6)}",
        "boot.id": "b",
        "sample.uptime": number,
        "interval.seconds": float(dice.choice([60, 900])),
        **({"node.type": dice.choice(["thin", "fat"])} if dice.random() < 0.5 else {}),
    }


def slice_of(dice: random.Random, number: int) -> Document:
    """
    A run's day; the hours of the day may be told or not.
    """
    made = _common(dice, "job_slice")
    hours = {f"{hour:02d}": dice.randrange(1, 3601) for hour in dice.sample(range(24), 3)}
    maybe: Document = {
        "hours": hours,
        "user.name": dice.choice(["alice", "bob"]),
        "project": f"p{dice.randrange(5)}",
        "gpu.models": sorted(dice.sample(["A100", "H100"], dice.randrange(1, 3))),
        "job.cores": dice.choice([1, 4, 64]),
        "job.nodes": sorted(dice.sample(HOSTS, dice.randrange(1, 4))),
        "job.wait.seconds": dice.choice([0.0, 59.9, 600.0, 1e6]),
        "core_seconds_allocated": round(dice.random() * 1e6, 2),
        "gpu_seconds_allocated": round(dice.random() * 1e5, 2),
    }
    kept = {name: value for name, value in maybe.items() if dice.random() < 0.8}
    run = {"job.run": f"fox/{number}@1", "wall.seconds": float(sum(hours.values()))}
    return {**made, **run, "record.version": 1, **kept}


def _card(dice: random.Random, number: int) -> Document:
    kept = {
        name: value
        for name, value in _process(dice, number).items()
        if name in DATASETS["process_gpu"].by_name
    }
    return {
        **kept,
        "dataset": "process_gpu",
        "gpu.uuid": f"u{dice.randrange(3)}",
        "gpu.model": dice.choice(["A100", "H100"]),
        "interval.seconds": 60.0,
    }


def _capacity(dice: random.Random, number: int) -> Document:
    """
    An hour of a node or of its cards; use may not have been measured.
    """
    hour = BEGIN + timedelta(hours=number)
    up = dice.choice([0.0, 1800.0, 3600.0])
    model = dice.choice([None, None, "A100", "H100"])
    what = "core" if model is None else "gpu"
    made: Document = {
        **_common(dice, "capacity"),
        "@timestamp": format_time(hour),
        "host.name": f"c1-{dice.randrange(4)}",
        "node.type": dice.choice(["thin", "fat"]),
        **({"partitions": dice.choice([["a"], ["a", "b"]])} if dice.random() < 0.9 else {}),
        "record.version": 1,
        "seconds.up": up,
        "seconds.down": dice.choice([0.0, 3600.0 - up]),
        "seconds.drained": 0.0,
        "seconds.unknown": dice.choice([0.0, 60.0]),
        f"{what}_seconds_capacity": 8 * up,
        f"{what}_seconds_lost": 8 * (3600.0 - up),
        **({"gpu.model": model} if model else {}),
    }
    if dice.random() < 0.7:
        busy = round(dice.random() * 8 * up, 2)
        made |= {f"{what}_seconds": busy, f"{what}_seconds_watched": 8 * up}
    return made


def _job(dice: random.Random, number: int) -> Document:
    submit = BEGIN + timedelta(seconds=dice.randrange(30 * 86400))
    start = submit + timedelta(seconds=dice.randrange(86400))
    wall = dice.randrange(5 * 86400)
    cores = dice.choice([1, 4, 64, 2000])
    job: Document = {
        **_common(dice, "job"),
        "@timestamp": format_time(submit),
        "job.run": f"fox/{number}@1",
        "user.name": dice.choice(["alice", "bob"]),
        "job.state": dice.choice(["COMPLETED", "FAILED"]),
        "job.cores": cores,
        **({"job.nodes": sorted(dice.sample(HOSTS, 2))} if dice.random() < 0.8 else {}),
        "job.submit": format_time(submit),
        "record.version": 1,
    }
    if dice.random() < 0.9:
        job |= {"job.start": format_time(start)}
        job |= {"job.wait.seconds": (start - submit).total_seconds()}
        if dice.random() < 0.8:
            job |= {"job.end": format_time(start + timedelta(seconds=wall))}
            job |= {"job.wall.seconds": float(wall), "job.limit.seconds": 5.0 * 86400}
            job |= {"job.core_seconds.allocated": float(wall * cores)}
    return job


def questions(dice: random.Random) -> Question:
    """
    Measures of one kind mostly, and up to three dimensions they all know: most can be answered.
    """
    one = dice.choice(MEASURES)
    like = [m for m in MEASURES if m.dataset == one.dataset] if dice.random() < 0.8 else MEASURES
    measures = dice.sample([m.name for m in like], min(len(like), dice.randrange(1, 4)))
    known = [d for d in DIMENSIONS if told(d, one.dataset)]
    dims = known if dice.random() < 0.9 else DIMENSIONS
    by = dice.sample([d.name for d in dims], dice.randrange(4))
    bucket = dice.choice(BUCKETS) if dice.random() < 0.3 else None
    return question(
        measures=tuple(measures),
        by=(*by, *([bucket] if bucket else [])),
        where=tuple(_filter(dice) for _ in range(dice.choice([0, 0, 1, 2]))),
        period=dice.choice(PERIODS),
        top=dice.choice([None, 1, 2, 10]),
        order=dice.choice(["", measures[-1], *by]),
        ascending=dice.random() < 0.2,
    )


def _filter(dice: random.Random) -> Filter:
    values = [
        ("user", ["alice", "bob", Prefix("al"), None, "nobody"]),
        ("cluster", ["fox", "betzy"]),
        ("host", ["c1-1", Prefix("c1"), None]),
        ("weekday", ["Monday", "7"]),
        ("hour_of_day", ["0", "13"]),
        ("project", ["p1", "p2", None]),
        ("node_type", ["thin", "fat", None]),
        ("gpu_model", ["A100"]),
        ("state", ["FAILED", "COMPLETED"]),
        ("size", ["2–4", "over 1,024"]),
    ]
    name, choices = dice.choice(values)
    chosen = dice.sample(choices, min(len(choices), dice.randrange(1, 3)))
    return Filter(name, tuple(chosen), dice.random() < 0.3)  # type: ignore[arg-type]


def answered(asked: Question, store: Store) -> Answer | str:
    try:
        return ask(asked, store, EVERYTHING, NOW, zone=ZONE, own=OWN)
    except QuestionError as error:
        return str(error)


def close(name: str, value: object, nearly: float) -> Any:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    approximate = nearly and name in BY_NAME and measure(name).approximate
    return pytest.approx(value, rel=nearly if approximate else 1e-9)


def figures(answer: Answer | str, nearly: float = 0.0) -> Any:
    """
    What must be equal; measures marked as approximate within NEARLY.
    """
    if isinstance(answer, str):
        return answer

    def told(row: Mapping[str, object]) -> dict[str, Any]:
        return {name: close(name, value, nearly) for name, value in row.items()}

    keys = answer.question.keys
    rows = [told(row) for row in answer.rows]
    if nearly:
        rows.sort(key=lambda row: [str(row[name]) for name in keys])
    others = answer.others and told(answer.others)
    total = told(answer.total)
    by_time = [told(row) for row in answer.total_by_time]
    share = close("share", answer.coverage.share, 0.0)
    return rows, others, total, by_time, answer.others_count, share


@pytest.mark.parametrize("number", range(SETS))
def test_lake_and_memory_agree(tmp_path: Path, number: int) -> None:
    """
    Rows, others, totals and coverage are the same on both stores; so are refusals.
    """
    dice = random.Random(number)
    made = documents(dice, SIZES[number])
    memory, lake = MemoryStore(), LakeStore(tmp_path / "lake")
    for store in (memory, lake):
        assert not store.write(made, "replace").rejected
    refused = 0
    for _ in range(QUESTIONS):
        asked = questions(dice)
        expected = answered(asked, memory)
        refused += isinstance(expected, str)
        assert figures(answered(asked, lake)) == figures(expected), str(asked)
        if isinstance(expected, Answer):
            check_whole(expected)
    lake.close()
    assert refused < QUESTIONS * 0.5


def test_clusters_count_their_own_days() -> None:
    """
    Of clusters in two zones each document lies in the days of its own, whatever is asked.
    """
    made, memory = documents(random.Random(17), 240), MemoryStore()
    assert not memory.write(made, "replace").rejected
    kept = [d for batches in memory.tables.values() for d in batches.values()]
    Judge(kept, OWN).examine(memory, 150, NOW, random.Random(17))


@pytest.mark.opensearch
def test_opensearch_and_memory_agree(opensearch_store: Store) -> None:
    """
    OpenSearch answers the same; what is marked as approximate within 2 %.
    """
    dice = random.Random(7)
    made = documents(dice, 300)
    memory = MemoryStore()
    for store in (memory, opensearch_store):
        assert not store.write(made, "replace").rejected
    for _ in range(60):
        asked = questions(dice)
        if asked.order in asked.measures or not asked.order:
            # What is only nearly right may rank rows that are nearly equal either way.
            asked = replace(asked, order="", top=None)
        expected = figures(answered(asked, memory), 0.02)
        assert figures(answered(asked, opensearch_store), 0.02) == expected, str(asked)


def check_whole(found: Answer) -> None:
    """
    Parts and others make the total for every measure that adds.
    """
    if found.multiple:
        return
    for name in found.question.measures:
        if not measure(name).adds or found.others_count is None:
            continue
        if measure(name).running and found.question.bucket:
            continue  # a run is in each bucket it ran in
        parts = [row[name] for row in found.rows] + [(found.others or {}).get(name)]
        known = [float(value) for value in parts if value is not None]
        whole = found.total[name]
        assert math.isclose(math.fsum(known), whole or 0.0, rel_tol=1e-9, abs_tol=1e-6), (
            f"{found.question}: {name}"
        )


def test_sums_by_hand(tmp_path: Path) -> None:
    """
    Core hours by user and local day are what adding the documents up by hand gives.
    """
    dice = random.Random(99)
    made = [_process(dice, number) for number in range(800)]
    lake = LakeStore(tmp_path / "lake")
    lake.write(made, "create")
    asked = question(by=("user", "day"), period="2026-10-25..2026-11-03")
    found = answered(asked, lake)
    assert isinstance(found, Answer)
    by_hand: dict[tuple[object, object], list[float]] = {}
    for document in made:
        day = str(document["local.day"])
        if "2026-10-25" <= day <= "2026-11-03":
            key = (document.get("user.name"), day)
            by_hand.setdefault(key, []).append(float(document.get("core_seconds", 0)))  # type: ignore[arg-type]
    lake.close()
    expected = {key: math.fsum(values) / 3600 for key, values in by_hand.items()}
    got = {(row["user"], row["day"]): row["core_hours_used"] or 0.0 for row in found.rows}
    assert expected.keys() == got.keys()
    assert all(math.isclose(expected[key], got[key], rel_tol=1e-9) for key in got)  # type: ignore[arg-type]
