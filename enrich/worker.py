"""
The worker's engine: its spool, its books, and the loop that empties the one into a store.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from enrich.counters import Counters, Tally
from enrich.delivery import Delivery, StoppedError, wait_seconds
from enrich.seen import Seen
from enrich.settings import WorkerSettings, worker_spool
from leadline.spool import Batch, Position, Spool

log = logging.getLogger("leadline.worker")

READER = "store"
READ_BYTES = 64 << 20
SAVE_SECONDS = 30.0
SOURCE = "receiver"


class WorkerSpool:
    """
    The spool with the one reader that matters.
    """

    def __init__(self, folder: Path, settings: WorkerSettings) -> None:
        self.spool = Spool.from_settings(folder, worker_spool(settings))
        self.reader = self.spool.reader(READER)
        self.arrived = threading.Event()

    def append(self, lines: list[bytes]) -> None:
        self.spool.append(lines)
        self.arrived.set()

    def waiting_bytes(self) -> int:
        return max(0, self.spool.end.offset - self.reader.position.offset)

    def pending(self) -> int:
        return max(0, self.spool.end.line - self.reader.position.line)

    def close(self) -> None:
        self.reader.close()
        self.spool.close()


class Engine:
    """
    Batches from the spool to the store, `worker` of them at once, forgotten in order.
    """

    def __init__(
        self,
        queue: WorkerSpool,
        delivery: Delivery,
        counters: Counters,
        seen: Seen,
        settings: WorkerSettings,
        stop: threading.Event,
    ) -> None:
        self.queue = queue
        self.counters = counters
        self.faults = 0  # batches that failed in a way nobody foresaw
        self.waiting = ""  # why the store does not take documents, for people
        self._delivery = delivery
        self._seen = seen
        self._settings = settings
        self._stop = stop

    def run(self) -> None:
        under_way: deque[tuple[Future[Tally], Batch]] = deque()
        saved = time.monotonic()
        with ThreadPoolExecutor(self._settings.worker, "deliver") as pool:
            while not self._stop.is_set():
                self._fill(pool, under_way)
                if under_way:
                    self._finish(*under_way.popleft(), under_way)
                if time.monotonic() - saved >= SAVE_SECONDS:
                    saved = time.monotonic()
                    self._seen.save()
        self._seen.save()

    def drain(self, seconds: float) -> None:
        """
        Deliver what waits, for so many seconds at most; the rest stays in the spool.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            batch = self.queue.reader.read(self._settings.bulk_max_size, READ_BYTES)
            if not batch.count:
                return
            try:
                self._note(self._deliver(batch), batch)
            except StoppedError:
                return

    def _fill(
        self, pool: ThreadPoolExecutor, under_way: deque[tuple[Future[Tally], Batch]]
    ) -> None:
        """
        Batches until as many are under way as may be. A small one waits for more to come.
        """
        while len(under_way) < self._settings.worker:
            after = under_way[-1][1].position if under_way else None
            batch = self._read(after)
            if batch.count < self._settings.bulk_max_size and not under_way:
                timeout = self._settings.flush.timeout
                if not batch.count:
                    self.queue.arrived.wait(0.5)
                    self.queue.arrived.clear()
                    return
                if not self._stop.wait(timeout):
                    batch = self._read(after)
            if not batch.count:
                return
            under_way.append((pool.submit(self._deliver, batch), batch))

    def _read(self, after: Position | None) -> Batch:
        return self.queue.reader.read(self._settings.bulk_max_size, READ_BYTES, after)

    def _finish(
        self,
        future: Future[Tally],
        batch: Batch,
        under_way: deque[tuple[Future[Tally], Batch]],
    ) -> None:
        """
        Forget a batch that is safe; one that is not is read again, and those behind it as well.
        """
        try:
            self._note(future.result(), batch)
        except StoppedError:
            under_way.clear()
        except Exception:  # the loop lives on, the batch stays in the spool
            log.exception("a batch of %d documents failed; it is tried again", batch.count)
            self.faults += 1
            for later, _ in under_way:
                later.exception()
            under_way.clear()
            self._stop.wait(wait_seconds(self._settings.backoff, self.faults))

    def _deliver(self, batch: Batch) -> Tally:
        return self._delivery.lines(batch.lines, SOURCE)

    def _note(self, tally: Tally, batch: Batch) -> None:
        self.counters.note(tally, batch.position)
        self.queue.reader.commit(batch.position)
