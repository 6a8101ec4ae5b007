"""
Collectors under a deadline: each has its own thread, so that one that hangs (a dead file server,
a driver that does not answer) is left behind and the others go on.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from queue import Empty, SimpleQueue

from leadline.formats import Document
from shipper.collectors.contract import Collector, NoticeError, Tick
from shipper.system import System

Answer = tuple[Iterable[Document], str | None]


class Deadline:
    def __init__(self, name: str, collector: Collector, system: System) -> None:
        self.name = name
        self.collector = collector
        self._system = system
        self._ticks: SimpleQueue[Tick | None] = SimpleQueue()
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._since: float | None = None
        self.is_stuck = False
        self._tick: Tick | None = None
        self._late_answer: tuple[Tick, Answer] | None = None

    def start(self, tick: Tick) -> None:
        """
        Begin a tick, unless the last one still hangs.
        """
        if self.is_stuck and not self._came_back():
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self.name, daemon=True)
            self._thread.start()
        self._since, self._tick = tick.uptime, tick
        self._ticks.put(tick)

    def finish(self, seconds: float) -> Answer:
        """
        What it made within SECONDS, and what went wrong. A late answer waits for `late`.
        """
        if self.is_stuck:
            return [], self._cut_off()
        try:
            return self._answers.get(timeout=max(0.01, seconds))
        except Empty:
            self.is_stuck = True
            return [], self._cut_off()

    def late(self) -> tuple[Tick, Answer] | None:
        """
        What it answered after it was cut off, and to which tick; once.
        """
        found, self._late_answer = self._late_answer, None
        return found

    def close(self) -> None:
        self._ticks.put(None)
        close = getattr(self.collector, "close", None)
        if close is not None and not self.is_stuck:
            if self._thread is not None:
                self._thread.join(1.0)
            close()

    def _cut_off(self) -> str:
        since = self._system.uptime() - (self._since or 0.0)
        return f"did not answer within its deadline; it hangs since {since:.0f} s"

    def _came_back(self) -> bool:
        try:
            made, failure = self._answers.get_nowait()
        except Empty:
            return False
        assert self._tick is not None
        # In words now: its thread rests, and the next tick changes what they are made from.
        self._late_answer = self._tick, (list(made), failure)
        self.is_stuck = False
        return True

    def _made(self, tick: Tick) -> Iterable[Document]:
        """
        A generator does its reading while it is asked: here, where it may hang. What is returned
        whole has been read, and may be put into words later.
        """
        made = self.collector(tick)
        return list(made) if isinstance(made, Generator) else made

    def _work(self) -> None:
        while (tick := self._ticks.get()) is not None:
            try:
                self._answers.put((self._made(tick), None))
            except NoticeError as notice:
                self._answers.put(([], str(notice)))
            except Exception as error:  # counted, sent as an event; the others go on
                self._answers.put(([], f"{type(error).__name__}: {error}"))
