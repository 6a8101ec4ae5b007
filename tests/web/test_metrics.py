"""What Prometheus is told: nodes, cards and jobs by their states, and nobody's name."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadline.errors import StoreError
from leadline.formats.times import format_time
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.pages.metrics import METRICS
from tests.web.conftest import NOW, job, node, site_of, week


def state(host: str, name: str, minutes: int = 30, **more: object) -> dict[str, object]:
    return {
        **node(NOW - timedelta(minutes=minutes), host),
        "dataset": "node_state",
        "state.name": name,
        "state.hash": f"{host}{name}{minutes}",
        **more,
    }


def life(number: int, name: str, minutes: int) -> dict[str, object]:
    return {
        "@timestamp": format_time(NOW - timedelta(minutes=minutes)),
        "dataset": "job_state",
        "cluster": "owl",
        "partition": "gpu",
        "user.name": "alice",
        "job.id": f"owl/{number}",
        "job.run": f"owl/{number}@x",
        "state.name": name,
        "state.hash": f"{number}{name}",
    }


@pytest.fixture(scope="module")
def told() -> str:
    store = MemoryStore()
    cards = {"gpu.by_model": {"a100": {"total": 4, "allocated": 1}}}
    flags = {"state.flags": ["DRAIN", "MAINT"], "state.reason": 'disk "sda"'}
    card = {"dataset": "gpu", "gpu.uuid": "GPU-1", "gpu.model": "a100", "gpu_seconds": 900.0}
    broken = {"gpu.uuid": "GPU-2", "gpu.failing": True}
    look = {"slurm.nodes": 2, "shipper.sent": 7, "shipper.pending": 3}
    store.write(
        [
            *week(),
            state("c1-0", "IDLE", 90),
            state("c1-0", "MIXED", **cards),
            state("c1-1", "IDLE", **flags, **cards),
            {**node(NOW - timedelta(minutes=12), "c1-1"), **card, "power.watts": 250.0},
            {**node(NOW - timedelta(minutes=12), "c1-0"), **card, **broken},
            {**node(NOW - timedelta(minutes=12), "c1-9"), **look},
            job(NOW - timedelta(minutes=10), 900),
            {**job(NOW, 901), "job.end": None, "job.state": "RUNNING", "partition": "cpu"},
            *(life(1, "PENDING", 50), life(1, "RUNNING", 40), life(2, "PENDING", 30)),
            *(life(3, "RUNNING", 30), life(3, "COMPLETED", 20)),
        ],
        "create",
    )
    return create_app(site_of(store)).test_client().get("/metrics").get_data(as_text=True)


@pytest.mark.parametrize(
    "line",
    [
        "leadline_up 1",
        'leadline_node_cores_busy{cluster="fox",node="c1-0"} 30',
        'leadline_node_state{cluster="fox",node="c1-0",state="MIXED",reason=""} 1',
        'leadline_node_state{cluster="fox",node="c1-1",state="IDLE+DRAIN+MAINT",'
        'reason="disk \\"sda\\""} 1',
        'leadline_nodes{cluster="fox",state="MIXED"} 1',
        'leadline_gpus{cluster="fox",model="a100",state="allocated"} 2',
        'leadline_gpus{cluster="fox",model="a100",state="idle"} 2',
        'leadline_gpus{cluster="fox",model="a100",state="unusable"} 4',
        'leadline_gpu_busy_ratio{cluster="fox",node="c1-1",uuid="GPU-1",model="a100"} 0.25',
        'leadline_gpu_power_watts{cluster="fox",node="c1-1",uuid="GPU-1",model="a100"} 250',
        'leadline_jobs{cluster="owl",partition="gpu",state="RUNNING"} 1',
        'leadline_jobs{cluster="owl",partition="gpu",state="PENDING"} 1',
        'leadline_jobs{cluster="fox",partition="cpu",state="RUNNING"} 1',
        'leadline_shipper_documents{cluster="fox",what="sent"} 7',
        'leadline_shipper_pending{cluster="fox",node="c1-9"} 3',
    ],
)
def test_figure_is_told(told: str, line: str) -> None:
    """
    States in full with their reason, cards by what they do, jobs by their last state.
    """
    assert line in told.splitlines()


def test_ended_job_lives_no_more(told: str) -> None:
    """
    A job is counted by its last state only, and an ended one where those that ended are.
    """
    assert 'owl",partition="gpu",state="COMPLETED"' not in told
    ended = [line for line in told.splitlines() if line.startswith("leadline_jobs_ended{")]
    assert ended
    assert all('state="COMPLETED"' in line or 'state="FAILED"' in line for line in ended)


def test_each_metric_says_what_it_is(told: str) -> None:
    """
    Help and type stand once before each, samples are of metrics that are known.
    """
    for name, known in METRICS.items():
        assert told.count(f"# HELP {name} {known.meaning}\n# TYPE {name} gauge\n") == 1
    names = {line.split("{")[0].split(" ")[0] for line in told.splitlines() if line[0] != "#"}
    assert names == METRICS.keys() - {
        name for name in METRICS if "memory" in name or name in NOT_SAMPLED
    }


# What this little cluster has not measured is left out.
NOT_SAMPLED = {
    "leadline_gpu_temperature_celsius",
    "leadline_node_load",
    "leadline_shipper_lag_seconds",
}


def test_nobody_is_named(told: str) -> None:
    """
    Prometheus is no place for who ran what.
    """
    assert not [name for name in ("alice", "bjorn", "<script>") if name in told]


def test_a_store_that_is_away_is_told() -> None:
    """
    Prometheus learns that the store does not answer, and which version says so; no figure is 0.
    """

    class Away(MemoryStore):
        def ask(self, *_: object, **__: object) -> list[dict[str, object]]:  # type: ignore[override]
            raise StoreError("nobody at home")

    answer = create_app(site_of(Away())).test_client().get("/metrics")
    figures = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert answer.status_code == 200
    assert figures[0] == "leadline_up 0"
    assert [line.partition("{")[0] for line in figures[1:]] == ["leadline_build_info"]
