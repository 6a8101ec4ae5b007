"""
What shippers would send: each node looks at its processes once per interval.

The rules are the shipper's own: a process first seen that started since the last tick counts
whole, later ones count what was added, one that lived and died between two ticks is not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from random import Random

from leadline.formats.times import from_epoch
from leadline.simulate.activity import Activity
from leadline.simulate.catalogue import UNMATCHED, command_line
from leadline.simulate.fleet import Host
from leadline.simulate.lines import (
    CARD_MEMORY,
    HEARTBEAT,
    gpu_line,
    heads,
    node_line,
    process_gpu_line,
    process_line,
)
from leadline.simulate.truth import Ledger, keys


class Seen:
    """
    An activity while it lives: its templates, and the counters read at the last tick.
    """

    __slots__ = (
        "activity",
        "busy",
        "cards",
        "first",
        "gpu_lines",
        "held",
        "line",
        "peak",
        "samples",
        "used",
    )

    def __init__(self, activity: Activity, since: float, random: Random) -> None:
        job = str(activity.job.number) if activity.job else ""
        executable, text = command_line(activity.recipe, random, activity.user.name, job)
        self.activity = activity
        self.line = process_line(activity, executable, text)
        self.cards = activity.cards
        self.gpu_lines = [process_gpu_line(activity, index, text) for index in activity.cards]
        # Older than the shipper's first tick: only what is added from there on counts.
        self.first = max(since, activity.start)
        self.used = activity.core_ticks(self.first)
        self.busy = activity.card_ticks(self.first) if activity.cards else 0
        self.held = self.first
        self.samples = 0
        self.peak = 0


class NodeShipper:
    """
    The shipper of one node: `tick` gives its documents, in order, and keeps the truth.
    """

    def __init__(
        self,
        host: Host,
        activities: list[Activity],
        cluster: str,
        every: int,
        start: float,
        seed: str,
        look: Callable[[float], bytes] | None = None,
    ) -> None:
        self.host = host
        self.every = every
        self.cluster = cluster
        self.last = start - host.delay
        self.fresh = False
        self._coming = sorted(activities, key=lambda a: a.start, reverse=True)
        self._alive: list[Seen] = []
        self._random = Random(seed)  # noqa: S311 - a simulation, not a secret
        self._head = heads(host, cluster, every)
        self._node = node_line(host)
        self._look = look
        self._cards = [gpu_line(host, index) for index in range(host.cards)]

    def tick(self, moment: float, ledger: Ledger, day: dict[str, int]) -> list[bytes]:
        """
        The documents of one snapshot.
        """
        if self.host.down and self.host.down[0] <= moment < self.host.down[1]:
            self._skip(moment, ledger)
            return []
        self._arrive(moment)
        uptime = int(moment - self.host.booted)
        middle = from_epoch((self.last + moment) / 2).encode()
        head = self._head % (middle, from_epoch(moment).encode(), uptime)
        busy_cards = [0] * self.host.cards
        lines, core_ticks, resident = self._processes(moment, head, ledger, day, busy_cards)
        if self.fresh:
            lines.append(head + HEARTBEAT)
            self.fresh = False
        else:
            told = self._look(moment) if self._look is not None else b""
            node = self._node % self._node_values(core_ticks, resident, uptime)
            lines.append(head + node[:-2] + told + node[-2:])
            lines += self._gpus(head, busy_cards)
        self.last = moment
        return lines

    def _skip(self, moment: float, ledger: Ledger) -> None:
        self._arrive(moment)
        for seen in self._alive:
            self._retire(seen, ledger)
        self._alive = []
        self.last = moment
        self.fresh = True
        if self.host.booted < self.host.down[1]:  # type: ignore[index]
            self.host.boot = self.host.boot[:-4] + "beef"
            self.host.booted = self.host.down[1] - 200  # type: ignore[index]
            self._head = heads(self.host, self.cluster, self.every)

    def _arrive(self, moment: float) -> None:
        while self._coming and self._coming[-1].start <= moment:
            activity = self._coming.pop()
            if activity.end > self.last:
                self._alive.append(Seen(activity, self.last, self._random))

    def _processes(
        self,
        moment: float,
        head: bytes,
        ledger: Ledger,
        day: dict[str, int],
        busy_cards: list[int],
    ) -> tuple[list[bytes], int, int]:
        lines: list[bytes] = []
        still: list[Seen] = []
        node_ticks = memory = 0
        for seen in self._alive:
            activity = seen.activity
            used = activity.core_ticks(moment)
            added = used - seen.used
            node_ticks += added
            card_ticks = 0
            if seen.cards:
                busy = activity.card_ticks(moment)
                card_ticks = busy - seen.busy
                for index in seen.cards:
                    busy_cards[index] += card_ticks
            if activity.end <= moment:
                self._retire(seen, ledger)
                continue
            still.append(seen)
            resident = activity.resident(moment)
            memory += resident
            lines.append(head + seen.line % self._values(seen, moment, added, card_ticks, resident))
            if seen.cards:
                lines += self._on_cards(seen, head, moment, card_ticks)
                seen.busy += card_ticks
                seen.held = moment
            seen.used = used
            seen.samples += 1
            seen.peak = max(seen.peak, resident)
            day[activity.recipe.program or UNMATCHED] += added
        self._alive = still
        return lines, node_ticks, memory

    def _values(
        self, seen: Seen, moment: float, added: int, card_ticks: int, resident: int
    ) -> tuple[float, ...]:
        activity = seen.activity
        span = min(moment - self.last, moment - activity.start) or 1.0
        seconds = added / 100
        user = added * 96 // 100 / 100
        values: tuple[float, ...] = (seconds, user, seconds - user, seconds * 100 / span)
        if not activity.zombie:
            values += (resident, int(seconds * 310_000), int(seconds * 95_000))
        if seen.cards:
            count = len(seen.cards)
            held = int(100 * (moment - seen.first)) - int(100 * (seen.held - seen.first))
            memory = int(count * CARD_MEMORY[self.host.model] * 0.55)
            values += (count * card_ticks / 100, count * held / 100, memory)
        return values

    def _on_cards(self, seen: Seen, head: bytes, moment: float, ticks: int) -> list[bytes]:
        span = min(moment - self.last, moment - seen.activity.start) or 1.0
        memory = int(CARD_MEMORY[self.host.model] * 0.55)
        values = (ticks / 100, min(100.0, ticks / span), memory, 55.0)
        return [head + line % values for line in seen.gpu_lines]

    def _retire(self, seen: Seen, ledger: Ledger) -> None:
        if not seen.samples:
            return
        activity = seen.activity
        amounts = {
            "core_hours_used": seen.used - activity.core_ticks(seen.first),
            "samples": seen.samples,
            "processes": 1,
        }
        if seen.cards:
            count = len(seen.cards)
            amounts["gpu_hours_busy"] = count * (seen.busy - activity.card_ticks(seen.first))
            amounts["gpu_hours_held"] = count * int(100 * (seen.held - seen.first))
        ledger.add(keys(activity, self.cluster), amounts)
        if not activity.zombie:
            ledger.peak(activity.recipe.program or UNMATCHED, seen.peak)

    def _node_values(self, ticks: int, resident: int, uptime: int) -> tuple[float, ...]:
        host, every = self.host, self.every
        busy = ticks / 100 + 0.002 * every * host.cores
        load = busy / every
        used = min(int(host.memory * 0.98), resident + (3 << 30))
        idle = max(0.0, every * host.cores - busy)
        users = len({seen.activity.user.uid for seen in self._alive})
        return (
            *(uptime, busy * 0.96, busy * 0.04, idle, busy, 100 * load),
            *(load * 1.02, load, load * 0.98, int(load + 0.5), used, host.memory - used, users),
        )

    def _gpus(self, head: bytes, busy_cards: list[int]) -> list[bytes]:
        on: dict[int, int] = defaultdict(int)
        for seen in self._alive:
            for index in seen.cards:
                on[index] += 1
        lines = []
        for index, line in enumerate(self._cards):
            share = min(1.0, busy_cards[index] / 100 / self.every)
            memory = int(CARD_MEMORY[self.host.model] * 0.55) if on[index] else 0
            watts = 55 + 300 * share
            held = 55.0 if memory else 0.0
            values = (share * 100, busy_cards[index] / 100, memory, held, 32 + 42 * share, watts)
            lines.append(head + line % (*values, watts * self.every, on[index]))
        return lines

    def finish(self, ledger: Ledger) -> None:
        for seen in self._alive:
            self._retire(seen, ledger)
        self._alive = []
