"""The worker's books for Prometheus."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from enrich.app import create_app
from enrich.counters import Tally
from enrich.grants import Grants
from enrich.metrics import METRICS, metrics_text
from enrich.receiver import Receiver
from enrich.seen import Host
from leadline.settings.common import ClusterSettings

SEEN = "2026-11-21T12:00:00.000Z"
STATUS = {
    "version": "1",
    "rules_version": 'r"1',
    "uptime_seconds": 12.5,
    "counters": {"read": 12, **asdict(Tally(stored=9, dead_lettered=1)), "pending": 2},
    "received": {"batches": 3, "refused_token": 1},
    "delivery": {"problem": "", "faults": 0},
    "cache": {"program": {"asked": 9, "missed": 2}},
    "store": {"ok": True},
    "hosts": [asdict(Host("fox", "c1-1", SEEN, SEEN, 1.5, dropped_by_bound=4))],
}


def test_books_are_counters() -> None:
    """
    What was read, what became of it and what still waits; each metric once, with help and type.
    """
    told = metrics_text(STATUS)
    assert 'leadline_worker_documents_total{what="stored"} 9\n' in told
    assert "leadline_worker_pending 2\n" in told
    assert 'leadline_worker_received_total{what="refused_token"} 1\n' in told
    assert 'dropped_total{cluster="fox",node="c1-1",why="bound"} 4\n' in told
    assert 'timestamp_seconds{cluster="fox",node="c1-1"} 1795262400\n' in told
    assert 'rules="r\\"1"' in told
    for name, known in METRICS.items():
        assert told.count(f"# TYPE {name} {known.kind}\n") == 1
        assert f"\n{name}" in told


def test_host_never_heard_has_no_time() -> None:
    """
    A host without a batch yet is not told as seen in 1970.
    """
    hosts = [asdict(Host("fox", "c1-1", "", SEEN, 0))]
    assert "timestamp_seconds{" not in metrics_text({**STATUS, "hosts": hosts})


def test_metrics_want_a_token() -> None:
    """
    Nodes are named: a stranger is refused, Prometheus sends a token.
    """
    grants = Grants({"fox": ClusterSettings(token="fox-token-0123456789")})
    app = create_app(cast(Receiver, None), grants, lambda: STATUS, lambda: True, 1000)
    client = app.test_client()
    assert client.get("/metrics").status_code == 401
    answer = client.get("/metrics", headers={"Authorization": "Bearer fox-token-0123456789"})
    assert answer.mimetype == "text/plain"
    assert "leadline_worker_pending 2" in answer.get_data(as_text=True)
