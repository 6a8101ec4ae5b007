"""
The shipper's loop: at each tick look, put what was seen into the spool, and tell the sender.

Sampling never waits for a worker, and a worker never sees what is not on this node's disk first.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from leadline.errors import LeadlineError, SpoolError
from leadline.formats import Document
from leadline.spool import Spool
from shipper.lock import OneAtATime
from shipper.notices import NUMBERS, Quiet, clock_notice, encode, notices, with_counters
from shipper.senders import build_sink
from shipper.senders.refused import RefusedFile
from shipper.senders.sender import READER, Sender
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import Sink
from shipper.snapshot import Tally
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
from shipper.ticks import Bell, Ticks

CHUNK = 200  # documents that are held at a time: all of a large node would double our memory

Tell = Callable[[str], None]


class Looker(Protocol):
    """
    What takes snapshots; `shipper.snapshot.Snapshots` is the real one.
    """

    unavailable: dict[str, str]

    @property
    def tally(self) -> Tally: ...

    def stream(self) -> Iterator[Document]:
        """
        The documents of one look; the whole node's own is the last.
        """
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Post:
    """
    All a shipper is made from; read again on SIGHUP.
    """

    settings: ShipSettings
    look: Callable[[], Looker]
    host: str
    state: Path  # counters and status
    spool: Path  # where documents wait, unless the settings say otherwise


@dataclass
class Look:
    """
    One tick under way.
    """

    grown: Totals
    waiting: Waiting
    now: float
    problems: list[str] = field(default_factory=list)
    lost: int = 0  # documents the spool could not take …
    lost_at: list[str] = field(default_factory=list)  # … and why, for each chunk

    def said(self) -> list[str]:
        """
        What went wrong; a full disk once, however many chunks it cost.
        """
        more = f" ({self.lost} documents in all)" if len(self.lost_at) > 1 else ""
        return self.problems + [f"{first}{more}" for first in self.lost_at[:1]]


class Shipper:
    """
    One set of settings at work: spool, sender, looker. `tick` does the work of one moment.
    """

    def __init__(
        self,
        post: Post,
        tell: Tell,
        *,
        sink: Sink | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.post = post
        self._tell = tell
        self._clock = clock
        self._started = clock()
        post.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        sink = sink or build_sink(post.settings, post.host)
        self.looker = post.look()
        try:
            self.spool = Spool.from_settings(post.spool, post.settings.queue.disk)
        except LeadlineError:
            self.looker.close()
            sink.close()
            raise
        self._refused = RefusedFile(post.state / "refused.ndjson")
        self.sender = Sender(
            self.spool.reader(READER), sink, post.settings, self._refused, tell=tell, clock=clock
        )
        self._quiet = Quiet((read_status(post.state) or {}).get("notices"))
        self._reported = read_totals(post.state, "reported")
        self._confessed = read_totals(post.state, "confessed")
        before = read_totals(post.state, "totals")
        self._left_out_before = before.dropped_by_rule
        self._not_accepted = before.not_accepted
        self._problem = ""
        self._failures = 0

    def tick(self) -> None:
        """
        Look once. Whatever fails is counted and told; the next tick comes all the same.
        """
        begun = time.monotonic()
        totals, waiting = self._measure()
        look = Look(growth(totals, self._reported), waiting, self._clock())
        chunk: list[Document] = []
        try:
            for document in self.looker.stream():
                if len(chunk) == CHUNK:
                    self._put(chunk, look)
                    chunk = []
                chunk.append(document)
        except Exception as error:  # the loop's one broad except: a node must go on being seen
            self._failures += 1
            look.problems.append(f"snapshot failed: {type(error).__name__}: {error}")
        self._put_last(chunk, look, totals)
        self.sender.wake()
        self._settle("; ".join(look.said()))
        self.write_status(time.monotonic() - begun)

    def _put(self, documents: list[Document], look: Look) -> bool:
        """
        Into the spool; what it cannot take is counted and told.
        """
        told_before = self._quiet.told
        lines, unwritable = encode(self._quiet(documents, look.now))
        self._not_accepted += unwritable
        try:
            self.spool.append(lines)
        except SpoolError as error:
            self._not_accepted += len(lines)
            self._quiet.told = told_before
            look.lost += len(lines)
            look.lost_at.append(str(error))
            return False
        return True

    def _put_last(self, documents: list[Document], look: Look, totals: Totals) -> None:
        """
        With the node's document goes what the shipper has to say about itself.
        """
        ahead = self.sender.clock_ahead
        documents = with_counters(documents, look.grown, look.waiting, ahead)
        documents += clock_notice(documents, ahead, look.now)
        untold = growth(totals, self._confessed)
        losses = notices(documents, untold, self.post.host, look.now)
        losses = [loss for loss in losses if self._quiet.is_new(loss, look.now)]
        if self._put(documents + losses, look):
            self._reported = totals
            said = {str(loss["event.reason"]) for loss in losses}
            self._confessed = replace(
                self._confessed, **{name: getattr(totals, name) for name in said}
            )

    def write_status(self, seconds: float = 0.0) -> None:
        totals, waiting = self._measure()
        status = Status(
            time=self._clock(),
            started=self._started,
            pid=os.getpid(),
            host=self.post.host,
            interval=self.post.settings.interval,
            totals=totals,
            waiting=waiting,
            reported=self._reported,
            confessed=self._confessed,
            sink=self.sender.state,
            clock_ahead=self.sender.clock_ahead,
            failures=self._failures + self.looker.tally.failures,
            tick_seconds=round(seconds, 4),
            unavailable=dict(self.looker.unavailable),
            problem=self._problem,
            notices=self._quiet.told,
        )
        try:
            write_status(self.post.state, status)
        except OSError as error:
            self._settle(f"{self.post.state}: status not written: {error.strerror}")

    def close(self, timeout: float) -> None:
        """
        Send what goes within the time; the rest stays in the spool.
        """
        self.sender.stop(timeout)
        self.write_status()
        self.looker.close()
        self.spool.close()

    def _measure(self) -> tuple[Totals, Waiting]:
        left_out = self._left_out_before + self.looker.tally.left_out
        return measure(self.spool, self._refused.count, left_out, self._not_accepted)

    def _settle(self, problem: str) -> None:
        """
        Told once, until something else is wrong.
        """
        if problem and NUMBERS.sub("", problem) != NUMBERS.sub("", self._problem):
            self._tell(problem)
        self._problem = problem


class Daemon:
    """
    Ticks until told to stop; `reload` builds a new shipper from the settings as they are then.
    """

    def __init__(
        self,
        load: Callable[[], Post],
        tell: Tell,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._load = load
        self._tell = tell
        self._clock = clock
        self._bell = Bell()
        self._asked: set[str] = set()

    def stop(self) -> None:
        self._asked.add("stop")
        self._bell.wake()

    def reload(self) -> None:
        self._asked.add("reload")
        self._bell.wake()

    def run(self) -> None:
        shipper = self._begin(self._load())
        try:
            shipper.tick()  # the first look is what the second takes differences against
            while "stop" not in self._asked:
                if "reload" in self._asked:
                    self._asked.discard("reload")
                    shipper = self._renew(shipper)
                self._wait(shipper)
        finally:
            shipper.close(shipper.post.settings.shutdown_timeout)
            self._bell.close()

    def _wait(self, shipper: Shipper) -> None:
        """
        Until the next tick, which is done, or until asked for something.
        """
        settings = shipper.post.settings
        ticks = Ticks.spread(settings.interval, settings.jitter, shipper.post.host)
        due = ticks.after(self._clock())
        while not self._asked:
            now = self._clock()
            if now >= due:
                shipper.tick()
                return
            if not ticks.still_due(due, now):
                return
            self._bell.wait(due - now)

    def _begin(self, post: Post) -> Shipper:
        shipper = Shipper(post, self._tell, clock=self._clock)
        shipper.sender.start()
        return shipper

    def _renew(self, old: Shipper) -> Shipper:
        """
        New settings that cannot work change nothing: the reason is told, the old ones go on.
        """
        try:
            post = self._load()
            build_sink(post.settings, post.host).close()
            post.look().close()
        except LeadlineError as error:
            self._tell(f"settings not taken: {error}")
            return old
        old.close(1.0)
        try:
            shipper = self._begin(post)
        except LeadlineError as error:
            self._tell(f"settings not taken: {error}")
            return self._begin(old.post)
        self._tell("settings read again")
        return shipper


def run(load: Callable[[], Post], tell: Tell) -> None:
    """
    The daemon of `leadline ship`, in the main thread: SIGTERM and SIGINT end it, SIGHUP reloads.
    """
    daemon = Daemon(load, tell)
    handlers: Mapping[int, Callable[[], None]] = {
        signal.SIGTERM: daemon.stop,
        signal.SIGINT: daemon.stop,
        signal.SIGHUP: daemon.reload,
    }
    for number, act in handlers.items():
        signal.signal(number, lambda _number, _frame, act=act: act())  # type: ignore[misc]
    daemon.run()


def run_once(post: Post, tell: Tell) -> bool:
    """
    One look, for cron: counters and spool carry over to the next run. False when the run before is
    still at work. Sends as long as most of an interval allows.
    """
    with OneAtATime(post.state) as mine:
        if not mine:
            return False
        shipper = Shipper(post, tell)
        try:
            shipper.tick()
            shipper.sender.drain(post.settings.interval * 0.8)
        finally:
            shipper.close(0.0)
        return True
