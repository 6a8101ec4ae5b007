"""
How often slurmctld is asked: at the pace of the settings, and less and less often while it is slow
or away.
"""

from __future__ import annotations

from shipper.settings import SlurmLiveSettings

EARLY = 0.5  # seconds: ticks are not due to the millisecond


class Pace:
    def __init__(self, settings: SlurmLiveSettings) -> None:
        self._settings = settings
        self.wait: float = settings.every
        self._next = 0.0

    def due(self, uptime: float) -> bool:
        return uptime >= self._next - EARLY

    def took(self, uptime: float, seconds: float, answered: bool) -> None:
        """
        A slow or missing answer doubles the wait up to the bound, a quick one ends it.
        """
        if answered and seconds < self._settings.slow:
            self.wait = self._settings.every
        else:
            self.wait = min(self.wait * 2, max(self._settings.every, self._settings.back_off_max))
        self._next = uptime + self.wait
