"""
Which processes are sent: by user, uid range, command, minimum CPU and memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from leadline.errors import SettingsError
from shipper.seen import Seen
from shipper.settings import ProcessSettings


class Filter:
    def __init__(self, settings: ProcessSettings) -> None:
        self._settings = settings
        self._users = frozenset(settings.users)
        self._exclude_users = frozenset(settings.exclude_users)
        self._commands = patterns("collect.process.commands", settings.commands)
        self._exclude = patterns("collect.process.exclude_commands", settings.exclude_commands)
        self.has_minimum = settings.minimum_cpu > 0 or settings.minimum_memory > 0

    def wants(self, process: Seen, user: str | None) -> bool:
        """
        By what does not change from tick to tick. USER is the real name, also under pseudonyms.
        """
        settings = self._settings
        if process.kernel and not settings.kernel_threads:
            return False
        uid = process.uid
        if uid is not None and not settings.uid_min <= uid <= settings.uid_max:
            return False
        if self._users and user not in self._users and str(uid) not in self._users:
            return False
        if user in self._exclude_users or str(uid) in self._exclude_users:
            return False
        command = process.command_line or process.name
        if self._commands and not any(p.search(command) for p in self._commands):
            return False
        return not any(p.search(command) for p in self._exclude)

    def busy(self, process: Seen, interval: float | None) -> bool:
        """
        Whether it reaches one of the minima. What was not measured is not below a minimum.
        """
        settings = self._settings
        if settings.minimum_memory and (process.rss or 0) >= settings.minimum_memory:
            return True
        if not settings.minimum_cpu:
            return False
        if process.cpu_user is None or process.cpu_system is None or not interval:
            return True
        return 100.0 * (process.cpu_user + process.cpu_system) / interval >= settings.minimum_cpu


def patterns(name: str, texts: Iterable[str]) -> list[re.Pattern[str]]:
    compiled = []
    for text in texts:
        try:
            compiled.append(re.compile(text))
        except re.error as error:
            raise SettingsError(f"{name}: {text!r} is no regular expression: {error}") from None
    return compiled
