"""
Every shipped rule has a case that fires and one that does not; rules that cannot be are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from leadline.alerts.rules import read_rules
from leadline.alerts.watch import Look, look
from leadline.errors import SettingsError, StoreError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.store import open_store
from leadline.store.contract import Health, Store
from leadline.store.memory import MemoryStore
from tests.alerts.conftest import NOON

RULES = read_rules()


def at(minutes: float) -> str:
    return format_time(NOON - timedelta(minutes=minutes))


def sample(dataset: str, minutes: float, **fields: object) -> Document:
    """
    A document of so many minutes before now.
    """
    names = {name.replace("__", "."): value for name, value in fields.items()}
    return {
        "dataset": dataset,
        "@timestamp": at(minutes),
        "cluster": "fox",
        "host.name": "c1",
        "boot.id": "b",
        "sample.uptime": 1_000_000 - int(minutes * 60),
        "interval.seconds": 60.0,
        **names,
    }


def every(minutes: Sequence[float], dataset: str, **fields: object) -> list[Document]:
    return [sample(dataset, minute, **fields) for minute in minutes]


def card(celsius: float, minutes: Sequence[float] = (1, 2, 3, 4)) -> list[Document]:
    return every(minutes, "gpu", gpu__uuid="GPU-1", temperature__celsius=celsius)


def failing(on: bool) -> list[Document]:
    return every((1, 2, 3), "gpu", gpu__uuid="GPU-1", gpu__failing=on)


def disk(percent: float) -> list[Document]:
    mount = {"filesystem.mount": "/", "filesystem.used.percent": percent}
    return [{**one, **mount} for one in every((1, 5), "filesystem")]


def growing(per_hour: int) -> list[Document]:
    found = []
    for hour in range(6):
        used = 2**40 - per_hour * hour
        room = {"filesystem.used.bytes": used, "filesystem.available.bytes": 2**41 - used}
        found.append({**sample("filesystem", 60 * hour + 5), **room, "filesystem.mount": "/home"})
    return found


def node(minutes: Sequence[float] = (1, 2), **fields: object) -> list[Document]:
    return every(minutes, "node", node__cores=10, **fields)


def state(minutes: float, name: str, *flags: str) -> Document:
    told = {"state.name": name, "state.hash": name, "state.reason": "power"}
    found = {**told, "dataset": "node_state", "@timestamp": at(minutes)}
    found |= {"state.flags": list(flags)} if flags else {}
    return {**found, "cluster": "fox", "host.name": "c1"}


def process(minutes: float, core_seconds: float, **fields: object) -> Document:
    who = {"user.name": "alice", "user.id": "2000", "process.name": "work"}
    key = {"process.entity_id": "1-1", "core_seconds": core_seconds, "interval.seconds": 3600.0}
    return sample("process", minutes, **{**who, **key, **fields})


def busy(minutes: float) -> Document:
    return {
        **sample("node", minutes, node__cores=10, core_seconds=32000.0),
        "interval.seconds": 3600.0,
    }


def weight(core_seconds: float) -> list[Document]:
    parent = {"process.parent.pid": 1, "memory.rss.bytes": 8 * 2**30}
    return [process(60 * hour + 1, core_seconds, **parent) for hour in range(5)]


def job(**fields: object) -> list[Document]:
    found = {"dataset": "job", "@timestamp": at(600), "cluster": "fox", "job.id": "fox/7"}
    found |= {"job.run": "fox/7@1", "record.version": 1, "user.name": "alice"}
    found |= {"job.start": at(600), "job.nodes": ["c1"]}
    return [{**found, **{name.replace("__", "."): value for name, value in fields.items()}}]  # type: ignore[list-item]


def gpu_job(used: float) -> list[Document]:
    hours, own = range(90, 600, 60), {"job.id": "fox/7", "gpu_seconds": used / 9}
    held = [process(minutes, 100.0, **own) for minutes in hours]
    ran = job(job__gpus=4, job__end=at(60), job__wall__seconds=9 * 3600.0)
    return [*ran, *held, *card(50.0, (300,))]


def cores(used: float) -> list[Document]:
    hours = {"job__core_seconds__allocated": 3.6e6, "job__core_seconds__used": used}
    return job(job__end=at(60), job__wall__seconds=9 * 3600.0, **hours)


CASES: dict[str, tuple[list[Document], list[Document]]] = {
    "gpu-temperature": (card(99), card(80)),
    "gpu-failing": (failing(True), failing(False)),
    "disk-full": (disk(99), disk(60)),
    "disk-filling": (growing(2**36), growing(2**30)),
    "node-silent": (node((40, 41)), node((1, 2))),
    "node-state": ([state(60, "IDLE"), state(5, "DOWN")], [state(60, "DOWN"), state(5, "IDLE")]),
    "memory-pressure": (
        node(pressure__memory__full__percent=35.0),
        node(pressure__memory__full__percent=1.0),
    ),
    "spool-growing": (node(shipper__lag__seconds=4000.0), node(shipper__lag__seconds=5.0)),
    "stray": (
        [process(m, 3600.0, stray=True) for m in (61, 1)],
        [process(m, 3600.0, **{"job.id": "fox/7"}) for m in (61, 1)],
    ),
    "hog": (
        [busy(61), process(61, 30000.0)],
        [busy(61), process(61, 30000.0, **{"job.id": "fox/7"})],
    ),
    "dead-weight": (weight(0.0), weight(900.0)),
    "job-past-limit": (job(job__limit__seconds=3600.0), job(job__limit__seconds=86400.0)),
    "idle-gpus": (gpu_job(0.0), gpu_job(9000.0)),
    "unused-cores": (cores(3.6e5), cores(3.4e6)),
}


def seen(name: str, documents: Sequence[Document]) -> Look:
    return looked(MemoryStore(), name, documents)


def looked(store: Store, name: str, documents: Sequence[Document]) -> Look:
    outcome = store.write(documents, "replace")
    assert [] == outcome.rejected
    return look(RULES[name], store, NOON)


def test_every_shipped_rule_has_its_cases() -> None:
    """
    The store's own rule has a test of its own below.
    """
    assert {*CASES, "store-unhealthy"} == set(RULES)


@pytest.mark.parametrize("name", CASES)
def test_shipped_rule_fires_and_does_not(name: str) -> None:
    """
    On what it is for, and on the same thing in good health.
    """
    bad, good = CASES[name]
    (one,) = [one for one in seen(name, bad).sightings if one.on]
    assert "fox" == one.cluster
    assert one.object.startswith(("c1", "fox/7"))
    assert [] == [one for one in seen(name, good).sightings if one.on]


@pytest.mark.parametrize("name", CASES)
def test_shipped_rule_sees_the_same_in_the_lake(tmp_path: Path, name: str) -> None:
    """
    What the naive store shows it.
    """
    for number, documents in enumerate(CASES[name]):
        store = open_store(f"lake:{tmp_path / str(number)}")
        expected = sorted(map(repr, seen(name, documents).sightings))
        assert expected == sorted(map(repr, looked(store, name, documents).sightings))
        store.close()


@pytest.mark.opensearch
def test_opensearch_shows_the_rules_the_same(opensearch_store: Store) -> None:
    """
    All cases side by side, each a cluster of its own.
    """
    told = [
        {**document, "cluster": f"{name}-{number}"}
        for name, cases in CASES.items()
        for number, documents in enumerate(cases)
        for document in documents
    ]
    naive = MemoryStore()
    for store in (naive, opensearch_store):
        assert [] == store.write(told, "replace").rejected
    for name, rule in RULES.items():
        if rule.watch != "store":
            expected = sorted(map(repr, look(rule, naive, NOON).sightings))
            assert expected == sorted(map(repr, look(rule, opensearch_store, NOON).sightings)), name


class Ailing(MemoryStore):
    """
    A store that says what is wrong with it, or cannot even do that.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__()
        self.problems = problems

    def health(self) -> Health:
        if not self.problems:
            raise StoreError("http://store:9200 does not answer")
        return Health("ailing", False, self.problems, {})


def test_store_rule_fires_when_it_is_not_well_or_gone() -> None:
    """
    And is quiet over a store in health.
    """
    rule = RULES["store-unhealthy"]
    for store, on, words in (
        (Ailing("disk 96 % full"), True, "disk 96 % full"),
        (Ailing(), True, "http://store:9200 does not answer"),
        (MemoryStore(), False, "not well"),
    ):
        (one,) = look(rule, store, NOON).sightings
        assert (on, words) == (one.on, one.words)


def test_one_sample_past_its_limit_is_not_enough() -> None:
    """
    Nor is one below it an all-clear: in between nothing is said.
    """
    mixed = [*card(99, (1, 2)), *card(80, (3, 4))]
    assert () == seen("gpu-temperature", mixed).sightings


def test_drained_node_is_no_alert() -> None:
    """
    Somebody took it out on purpose.
    """
    (one,) = seen("node-state", [state(5, "IDLE", "DRAIN")]).sightings
    assert not one.on


def test_findings_are_not_over_while_nothing_comes_in() -> None:
    """
    From silence nobody may conclude that all is well.
    """
    assert not seen("stray", []).complete
    assert seen("stray", node()).complete


def test_user_rules_know_share_and_hours() -> None:
    """
    Both are needed before a user is written to.
    """
    (one,) = seen("unused-cores", cores(3.6e5)).sightings
    assert ("alice", 0.9, 900.0) == (one.user, round(one.share or 0, 6), one.hours)
    (one,) = [one for one in seen("idle-gpus", gpu_job(0.0)).sightings if one.on]
    assert (1.0, 36.0) == (one.share, one.hours)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Hot:\n  watch: store\n  text: x", "small letters, digits and - only"),
        ("hot:\n  watch: store\n  text: x\n  colour: red", "line 4: unknown setting hot.colour"),
        ("hot:\n  watch: stars\n  text: x", "'stars' is none of samples"),
        ("hot:\n  watch: store\n  text: '{pid}'", "'pid' is not known"),
        ("hot:\n  watch: finding\n  finding: x\n  text: x", "finding 'x' is none of"),
        ("hot:\n  watch: samples\n  dataset: x\n  text: x", "dataset 'x' is none of"),
        ("hot:\n  watch: samples\n  dataset: gpu\n  field: x\n  text: x", "'x' is no field of gpu"),
        (
            "hot:\n  watch: samples\n  dataset: gpu\n  field: gpu.percent\n  text: x"
            "\n  condition: hot",
            "condition 'hot': write",
        ),
        ("hot:\n  watch: measure\n  measure: heat\n  text: x", "heat"),
        (
            "hot:\n  watch: measure\n  measure: jobs\n  object: moods"
            "\n  condition: '< 5'\n  text: x",
            "moods",
        ),
        (
            "hot:\n  watch: measure\n  measure: jobs\n  condition: '= 5'\n  text: x",
            "condition '= 5': write",
        ),
    ],
)
def test_rule_that_cannot_be_is_refused(tmp_path: Path, text: str, error: str) -> None:
    """
    With file and line, before anything is watched.
    """
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=error):
        read_rules(path)


MEASURE = """
greedy:
  watch: measure
  measure: core_hours_used
  object: [user]
  where: {program: VASP}
  condition: ">= 10"
  for: 6h
  text: "{object} used {value:.0f} core hours of VASP in six hours"
"""


def test_a_measure_may_be_watched(tmp_path: Path) -> None:
    """
    Any of the questions, by any dimension: past its condition it fires, below it is well, and what
    is gone altogether is over while samples come in.
    """
    (tmp_path / "rules.yaml").write_text(MEASURE)
    rule = read_rules(tmp_path / "rules.yaml")["greedy"]
    store = MemoryStore()
    fields = {"process__entity_id": "1", "program__name": "VASP", "process__name": "vasp"}
    for user, seconds in (("alice", 36_000.0), ("bob", 3600.0)):
        documents = every((30, 90), "process", user__name=user, core_seconds=seconds, **fields)
        documents = [d | {"process.entity_id": user} for d in documents]
        assert 2 == store.write(documents, "create").accepted
    store.write(every((2,), "node"), "create")
    seen = look(rule, store, NOON)
    assert {"alice": True, "bob": False} == {one.object: one.on for one in seen.sightings}
    assert (20.0, "alice") == next((s.value, s.user) for s in seen.sightings if s.on)
    assert seen.complete
    assert not look(rule, MemoryStore(), NOON).complete


def test_site_changes_and_leaves_out_rules(tmp_path: Path) -> None:
    """
    By name: a rule of the same name replaces the shipped one.
    """
    path = tmp_path / "rules.yaml"
    path.write_text("node-silent:\n  watch: silent\n  for: 2h\n  text: '{object} is silent'\n")
    rules = read_rules(path, ("hog",))
    assert 7200 == rules["node-silent"].span
    assert {*RULES} - {"hog"} == {*rules}
    with pytest.raises(SettingsError, match="no rule 'hogg'"):
        read_rules(path, ("hogg",))
