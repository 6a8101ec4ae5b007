"""
The sender: a thread of its own that takes documents from the spool to the sink, so that sampling
never waits for a worker.

Order is kept. A batch is forgotten only when the sink has it. A batch the sink refuses is halved
until the one document at fault is alone; that one goes to a file with the reason, and is counted.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from leadline.errors import LeadlineError, SpoolError
from leadline.spool import Batch, Reader
from shipper.senders.clocks import Clocks
from shipper.senders.refused import RefusedFile
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import Ahead, NotNow, Paused, Refused, Sink
from shipper.system import System

READER = "sender"
IDLE_WAIT = 60.0  # the writer wakes us; this only catches a wake-up that got lost
SUSPICIOUS = 20  # so many documents refused in a row look like a fault of the worker: slow down


@dataclass(frozen=True, slots=True)
class State:
    """
    What the sender is doing, for `leadline status`.
    """

    state: str  # idle, sending, waiting, paused, stopped
    reason: str = ""
    since: float = 0.0
    target: str = ""
    last_sent: float | None = None


class Sender:
    def __init__(
        self,
        reader: Reader,
        sink: Sink,
        settings: ShipSettings,
        refused: RefusedFile,
        *,
        tell: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
        draw: Callable[[float, float], float] = random.uniform,
        system: System | None = None,
    ) -> None:
        self._reader = reader
        self._sink = sink
        self._settings = settings
        self._refused = refused
        self._tell = tell
        self._clock = clock
        self._draw = draw
        self._clocks = Clocks(system or System(), clock)
        self._clock_is_wrong = False
        self._at = reader.position
        self._limit = settings.bulk_max_size
        self._max_bytes = int(settings.bulk_max_bytes)
        self._failures = 0
        self._refused_in_a_row = 0
        self._partial_since: float | None = None
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._abandoned = False  # somebody else may have this reader's place by now
        self.state = State("idle", since=clock(), target=sink.target)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """
        There are new documents.
        """
        self._wake.set()

    def stop(self, timeout: float) -> None:
        """
        Send what is there as long as that works, at most `timeout` seconds; the rest stays spooled.
        """
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                self._abandoned = True  # stuck in an answer: that batch comes again
                return
        self._sink.close()
        self._reader.close()
        self._be("stopped")

    def drain(self, timeout: float) -> None:
        """
        Without a thread: send until nothing is left, a try fails, or time is up.
        """
        until = time.monotonic() + timeout
        self._stop.set()
        while time.monotonic() < until and self.step() == 0:
            pass

    def step(self) -> float:
        """
        One try. Returns how long to wait before the next: 0 after progress, else seconds.
        """
        self._wake.clear()
        batch = self._reader.read(self._limit, self._max_bytes, self._at)
        if not batch.count:
            self._be("idle")
            return IDLE_WAIT
        if wait := self._wait_for_more(batch):
            return wait
        try:
            self._offer(batch)
        except Refused as problem:
            return self._narrow(batch, problem)
        except Paused as problem:
            self._be("paused", str(problem))
            maximum = self._settings.backoff.max
            return self._draw(maximum / 2, maximum)
        except NotNow as problem:
            return self._back_off(str(problem), problem.retry_after)
        self._failures = self._refused_in_a_row = 0
        self._limit = min(self._limit * 2, self._settings.bulk_max_size)
        self._pass(batch)
        self._be("sending", sent=True)
        return 0.0

    @property
    def clock_ahead(self) -> float | None:
        """
        This node's clock less the worker's, where the sink knows.
        """
        return getattr(self._sink, "clock_ahead", None)

    def _offer(self, batch: Batch) -> None:
        """
        Documents that are too far ahead are offered again with their times put right.
        """
        data = self._put_right(batch.data) if self._clock_is_wrong else batch.data
        try:
            self._sink.send(data, batch.count)
        except Ahead:
            if self._clock_is_wrong:
                raise
            data = self._put_right(batch.data)
            if not self._clock_is_wrong:
                raise
            self._sink.send(data, batch.count)

    def _put_right(self, data: bytes) -> bytes:
        data, changed = self._clocks.put_right(data, self.clock_ahead or 0.0)
        self._clock_is_wrong = changed > 0
        return data

    def _run(self) -> None:
        while True:
            try:
                wait = self.step()
            except LeadlineError as error:
                wait = self._back_off(str(error))
            except Exception as error:  # a bug must not end delivery for good; it is told instead
                wait = self._back_off(f"{type(error).__name__}: {error}")
            if self._stop.is_set() and wait:
                return
            if self.state.state == "idle" or self._partial_since is not None:
                self._wake.wait(wait)
            else:
                self._stop.wait(wait)

    def _wait_for_more(self, batch: Batch) -> float:
        timeout = self._settings.flush.timeout
        if not timeout or batch.count >= self._limit or self._stop.is_set():
            self._partial_since = None
            return 0.0
        now = self._clock()
        if self._partial_since is None:
            self._partial_since = now
        left = timeout - abs(now - self._partial_since)
        if left > 0:
            return left
        self._partial_since = None
        return 0.0

    def _pass(self, batch: Batch) -> None:
        """
        The batch is safe. If its position cannot be kept (full disk), it is kept in memory: a crash
        before the next success repeats documents, and loses none.
        """
        self._at = batch.position
        if self._abandoned:
            return
        try:
            self._reader.commit(batch.position)
        except SpoolError as error:
            self._tell(str(error))

    def _back_off(self, reason: str, retry_after: float | None = None) -> float:
        backoff = self._settings.backoff
        ceiling = min(backoff.max, backoff.init * 2 ** min(self._failures, 30))
        self._failures += 1
        self._be("waiting", reason)
        wait = self._draw(0.0, ceiling)
        return max(wait, min(retry_after or 0.0, backoff.max), 0.001)

    def _narrow(self, batch: Batch, problem: Refused) -> float:
        self._be("sending")
        if batch.count > 1:
            self._limit = batch.count // 2
            if problem.too_large:
                self._max_bytes = max(len(batch.data) // 2, 1)
            return 0.0
        self._refused.add(batch.lines[0], str(problem), self._clock())
        self._pass(batch)
        self._refused_in_a_row += 1
        self._tell(f"refused a document: {problem}; kept in {self._refused.path}")
        if self._refused_in_a_row >= SUSPICIOUS:
            return self._back_off(f"refuses everything: {problem}")
        self._limit = min(self._limit * 2, self._settings.bulk_max_size)
        return 0.0

    def _be(self, state: str, reason: str = "", sent: bool = False) -> None:
        """
        Remember what is going on; say it once, when it changes.
        """
        before = self.state
        now = self._clock()
        changed = (state, reason) != (before.state, before.reason)
        last = now if sent else before.last_sent
        since = now if changed else before.since
        self.state = State(state, reason, since, self._sink.target, last)
        if changed and reason and reason != before.reason:
            self._tell(f"{state}: {reason}")
        elif sent and before.state in ("waiting", "paused"):
            self._tell(f"sending again to {self._sink.target}")
