"""
What a process does, continuous in time: its counters can be read at any moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sin

from leadline.simulate.catalogue import Recipe
from leadline.simulate.fleet import Host, User


@dataclass(slots=True, eq=False)
class Job:
    """
    A batch job: what was asked, when it ran, how it ended.
    """

    number: int
    user: User
    recipe: Recipe
    partition: str
    cores: int  # of each node
    nodes: int
    cards: int
    submit: float
    length: float
    limit: int
    start: float = 0.0
    end: float = 0.0
    state: str = "COMPLETED"
    hosts: tuple[Host, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()  # the cards it was given on each host
    idle_cards: bool = False  # asked for cards and never used them
    used: int = 0  # hundredths of core seconds, as the scheduler accounts them
    peak: int = 0  # bytes


@dataclass(slots=True, eq=False)
class Activity:
    """
    One process, or like processes that live and die together (the ranks of a parallel job).
    """

    host: Host
    user: User
    recipe: Recipe
    start: float
    end: float
    load: float  # mean cores busy
    memory: int
    pid: int
    job: Job | None = None
    ranks: int = 1
    cards: tuple[int, ...] = ()
    card_load: float = 0.0  # mean utilisation of each card, 0–1
    zombie: bool = False
    swing: float = 0.2  # how far the load goes up and down, as a share of it
    period: float = 7200.0
    phase: float = 0.0

    def core_ticks(self, moment: float) -> int:
        """
        CPU time used until MOMENT, in hundredths of a second, as a kernel counts it.
        """
        return int(100 * self.load * self._wave(moment))

    def card_ticks(self, moment: float) -> int:
        """
        GPU time used until MOMENT on each card, in hundredths of a second.
        """
        return int(100 * self.card_load * self._wave(moment))

    def _wave(self, moment: float) -> float:
        seconds = min(moment, self.end) - self.start
        if seconds <= 0:
            return 0.0
        pace = 2 * pi / self.period
        wave = sin(pace * seconds + self.phase) - sin(self.phase)
        return max(0.0, seconds + self.swing / pace * wave)

    def resident(self, moment: float) -> int:
        """
        Memory grows through the first half hour, then stays.
        """
        grown = min(1.0, 0.3 + 0.7 * (moment - self.start) / 1800)
        return int(self.memory * grown)
