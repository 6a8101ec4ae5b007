"""
A node whose clock is wrong: its samples get the times they were taken at, and somebody hears of it.
"""

import json
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from leadline.formats import Document
from leadline.formats.times import from_epoch
from leadline.spool import Spool
from shipper.notices import clock_notice, with_counters
from shipper.senders.clocks import http_date
from shipper.senders.http import HttpSink
from shipper.senders.refused import RefusedFile
from shipper.senders.sender import READER, Sender
from shipper.senders.settings import ShipSettings
from shipper.status import Totals, Waiting
from tests.shipper.fake import BOOT_ID, FakeSystem
from tests.shipper.senders.worker import Answer, Worker

Start = Callable[..., Worker]
TRUE = 1_790_000_000.0  # what the worker's clock says
HOUR = 3600.0


class Node:
    """
    A node AHEAD of the worker, and a worker that takes nothing more than an hour ahead of it.
    """

    def __init__(self, folder: Path, worker: Start, ahead: float) -> None:
        self.folder, self.ahead = folder, ahead
        self.system = FakeSystem(folder / "machine")
        self.spool = Spool(folder / "spool")
        self.worker = worker(self.judge)

    def judge(self, lines: list[bytes]) -> Answer:
        date = {"Date": formatdate(TRUE, usegmt=True)}
        latest = from_epoch(TRUE + HOUR)
        if any(str(json.loads(line)["@timestamp"]) > latest for line in lines):
            return 422, b'{"error": "more than 1 h ahead", "code": "ahead"}', date
        self.worker.taken += lines
        return 200, b'{"accepted": 1}', date

    def look(self, age: float, ahead: float, **more: object) -> Document:
        """
        What a look AGE seconds ago wrote, while the clock was AHEAD.
        """
        made = {
            "dataset": "process",
            "@timestamp": from_epoch(TRUE + ahead - age - 30),
            "sample.time": from_epoch(TRUE + ahead - age),
            "sample.uptime": int(self.system.uptime() - age),
            "process.start": from_epoch(TRUE + ahead - age - 90),
            "boot.id": BOOT_ID,
            "n": age,
        }
        return {**made, **more}

    def send(self, *documents: Document) -> list[dict[str, Any]]:
        now = TRUE + self.ahead
        self.spool.append([json.dumps(one).encode() for one in documents])
        sink = HttpSink(ShipSettings(endpoints=(self.worker.url,)), "n1", wall=lambda: now)
        self.refused = RefusedFile(self.folder / "refused.ndjson")
        self.sender = Sender(
            self.spool.reader(READER),
            sink,
            ShipSettings(),
            self.refused,
            clock=lambda: now,
            system=self.system,
        )
        self.sender.drain(5)
        self.sender.stop(1)
        self.spool.close()
        return [json.loads(line) for line in self.worker.taken]


def test_samples_of_a_wrong_clock_get_their_time_back(tmp_path: Path, worker: Start) -> None:
    """
    Two hours ahead: refused once, then told when they were taken, by the clock since boot, and by
    how much that is not what the node's clock said. Nothing is lost and nothing set aside.
    """
    node = Node(tmp_path, worker, 2 * HOUR)
    made = [node.look(age, 2 * HOUR) for age in (120, 60, 0)]
    taken = node.send(*made)
    assert [120, 60, 0] == [one["n"] for one in taken]
    for one in taken:
        assert one["sample.time"] == from_epoch(TRUE - one["n"])
        assert one["@timestamp"] == from_epoch(TRUE - one["n"] - 30)
        assert one["process.start"] == from_epoch(TRUE - one["n"] - 90)
        assert one["clock.corrected.seconds"] == 2 * HOUR
    assert node.refused.count == 0
    assert node.sender.clock_ahead == 2 * HOUR


def test_only_what_the_wrong_clock_wrote_is_changed(tmp_path: Path, worker: Start) -> None:
    """
    The clock was set right meanwhile: samples from before are mended, those after left alone.
    """
    node = Node(tmp_path, worker, 0)
    made = [node.look(60, 5 * HOUR), node.look(0, 0)]
    before, after = node.send(*made)
    assert (before["clock.corrected.seconds"], before["sample.time"]) == (
        5 * HOUR,
        from_epoch(TRUE - 60),
    )
    assert after == made[1]


def test_what_nobody_can_tell_is_kept_aside(tmp_path: Path, worker: Start) -> None:
    """
    Of another boot, or without a time since boot: the document lies in refused.ndjson, counted; the
    others go on.
    """
    node = Node(tmp_path, worker, 2 * HOUR)
    strange = node.look(60, 2 * HOUR, **{"boot.id": "another"})
    without: Document = {"dataset": "event", "@timestamp": from_epoch(TRUE + 2 * HOUR)}
    (taken,) = node.send(strange, without, node.look(0, 2 * HOUR))
    assert taken["n"] == 0
    kept = [json.loads(line) for line in node.refused.path.read_text().splitlines()]
    assert node.refused.count == 2
    assert [strange, without] == [json.loads(one["document"]) for one in kept]
    assert "422" in kept[0]["reason"]


@pytest.mark.parametrize(("ahead", "words"), [(7201.4, "7201 s ahead of"), (-90.0, "90 s behind")])
def test_the_difference_is_told(ahead: float, words: str) -> None:
    """
    As a figure of the node, and as an event from a minute on.
    """
    node: Document = {"dataset": "node", "host.name": "n1", "boot.id": "b", "sample.uptime": 9}
    (told,) = with_counters([node], Totals(), Waiting(), ahead)
    assert told["clock.ahead.seconds"] == ahead
    (event,) = clock_notice([told], ahead, TRUE)
    assert words in str(event["message"])
    assert event["sample.uptime"] == 9
    assert clock_notice([told], 2.0, TRUE) == clock_notice([told], None, TRUE) == []
    assert "clock.ahead.seconds" not in with_counters([node], Totals(), Waiting())[0]


@pytest.mark.parametrize("text", [None, "", "yesterday", "Sat, 31 Feb 2026 10:00:00 GMT", "x" * 99])
def test_a_date_nobody_can_read_is_none(text: str | None) -> None:
    """
    Then nothing is known of the worker's clock, and nothing is said.
    """
    assert http_date(text) is None
    assert http_date(formatdate(TRUE, usegmt=True)) == TRUE
