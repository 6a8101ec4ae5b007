"""
The shipper's counters: they add up, survive a restart, and tell of losses.
"""

from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.formats.validate import check
from leadline.spool import Spool
from shipper.notices import Quiet, encode, notices, with_counters
from shipper.senders.sender import READER, State
from shipper.status import (
    Status,
    Totals,
    Waiting,
    growth,
    measure,
    read_status,
    read_totals,
    write_status,
)

NODE: Document = {
    "dataset": "node",
    "@timestamp": "2026-03-02T10:15:00.000Z",
    "host.name": "n1",
    "boot.id": "b",
    "cluster": "fox",
    "sample.uptime": 60,
}


def status(**more: object) -> Status:
    values: dict[str, object] = {
        "time": 1e9,
        "started": 1e9,
        "pid": 1,
        "host": "n1",
        "interval": 60,
        "totals": Totals(read=5, sent=3),
        "waiting": Waiting(2, 20, 1.5),
        "reported": Totals(read=4),
        "confessed": Totals(),
        "sink": State("idle"),
    }
    return Status(**{**values, **more})  # type: ignore[arg-type]


def test_what_was_made_is_always_accounted_for(tmp_path: Path) -> None:
    """
    read = sent + refused + dropped by the bound + not accepted + pending, at every moment.
    """
    with Spool(tmp_path, max_bytes=2000) as spool:
        reader = spool.reader(READER)
        for n in range(300):
            spool.append([b"%d" % n] * 3)
            if n % 5 == 0:
                batch = reader.read(max_lines=7)
                reader.commit(batch.position)
            totals, waiting = measure(spool, 2, 40, 5)
            assert totals.read == (n + 1) * 3 + 5
            assert totals.read == (
                totals.sent
                + totals.refused
                + totals.dropped_by_bound
                + totals.not_accepted
                + waiting.pending
            )
        assert totals.dropped_by_bound > 0


def test_status_file_is_read_back(tmp_path: Path) -> None:
    """
    Another process sees the whole status or the one before, with times people can read.
    """
    write_status(tmp_path, status())
    found = read_status(tmp_path)
    assert found is not None
    assert found["time"] == "2001-09-09T01:46:40.000Z"
    assert read_totals(tmp_path, "totals") == Totals(read=5, sent=3)
    assert read_totals(tmp_path, "reported") == Totals(read=4)


@pytest.mark.parametrize(
    "broken", [b"", b"[]", b"{", b'{"totals": 3}', b'{"totals": {"read": "x"}}']
)
def test_broken_status_starts_at_zero(tmp_path: Path, broken: bytes) -> None:
    """
    A torn status file is no reason not to start.
    """
    (tmp_path / "status.json").write_bytes(broken)
    assert read_totals(tmp_path, "totals") == Totals()


def test_growth_of_a_counter_that_fell_starts_anew() -> None:
    """
    With a new spool the counters begin at zero; sums in the store never go down.
    """
    now, before = Totals(read=10, sent=3), Totals(read=4, sent=9)
    assert growth(now, before) == Totals(read=6, sent=3)


def test_node_document_carries_the_counters() -> None:
    """
    The node's own document gets them, that of a job's cgroup does not; both stay valid.
    """
    job = {**NODE, "dataset": "job_cgroup", "job.local_id": "1"}
    node, other = with_counters([NODE, job], Totals(read=7), Waiting(2, 9, 3.5))
    assert (node["shipper.read"], node["shipper.pending"]) == (7, 2)
    assert other == job
    assert "labels" not in check(node)


def test_losses_become_events() -> None:
    """
    Each kind of loss is one valid event that says how many; no loss, no event.
    """
    assert notices([NODE], Totals(read=9, sent=9), "n1", 1e9) == []
    made = notices([NODE], Totals(dropped_by_bound=4, refused=1), "n1", 1e9)
    assert [(d["rule.name"], d["event.count"]) for d in made] == [
        ("shipper.dropped_by_bound", 4),
        ("shipper.refused", 1),
    ]
    for document in made:
        assert document["cluster"] == "fox"
        assert "labels" not in check(document)


def test_lasting_problem_is_told_once_an_hour() -> None:
    """
    The same notice again, but for its figures, is left out for an hour, also over a restart; others
    and documents that are no notices pass.
    """

    def hangs(since: int) -> Document:
        reason = f"hangs since {since} s"
        return {
            "dataset": "event",
            "event.kind": "notice",
            "rule.name": "shipper.nvidia",
            "event.reason": reason,
        }

    change: Document = {"dataset": "event", "event.kind": "change", "event.reason": "x"}
    quiet = Quiet()
    assert quiet([hangs(1), change, NODE], 1000.0) == [hangs(1), change, NODE]
    assert quiet([hangs(2), change, NODE], 1060.0) == [change, NODE]
    assert Quiet(quiet.told)([hangs(3)], 4000.0) == []
    assert quiet([{**hangs(4), "rule.name": "shipper.amd"}], 4000.0) != []
    assert quiet([hangs(5)], 4601.0) == [hangs(5)]
    assert quiet([hangs(6)], 100.0) == [hangs(6)]


def test_document_that_is_no_json_is_counted_not_fatal() -> None:
    """
    One broken document does not take the snapshot with it.
    """
    lines, failed = encode([{"a": 1}, {"b": object()}, {"c": "\ud800"}, {"d": 2}])
    assert lines == [b'{"a":1}', b'{"d":2}']
    assert failed == 2
