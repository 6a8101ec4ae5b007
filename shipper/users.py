"""
User names that never keep a sample waiting: a directory server may be slow, dead, or not know.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue

from shipper.system import System

PATIENCE = 0.5  # seconds one tick may wait for the directory, all users together
KEEP = 3600.0  # seconds a name is believed
KEEP_UNKNOWN = 300.0


class Users:
    """
    Names by user id, looked up by one thread and remembered.
    """

    def __init__(self, system: System, patience: float = PATIENCE) -> None:
        self._system = system
        self._patience = patience
        self._left = patience
        self._known: dict[int, tuple[str | None, float]] = {}
        self._asked: dict[int, threading.Event] = {}
        self._questions: SimpleQueue[int] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def turn(self) -> None:
        """
        A new tick begins: it may wait again.
        """
        self._left = self._patience

    def name(self, uid: int) -> str:
        """
        `_user_<uid>` while the directory has not answered, and when it does not know.
        """
        return self.directory_name(uid) or f"_user_{uid}"

    def directory_name(self, uid: int) -> str | None:
        known = self._known.get(uid)
        now = self._system.uptime()
        if known is not None and now < known[1]:
            return known[0]
        if uid not in self._asked:
            self._asked[uid] = threading.Event()
            self._questions.put(uid)
            self._start()
        if known is not None:  # stale, but better than to wait
            return known[0]
        self._wait(self._asked.get(uid))
        answer = self._known.get(uid)
        return answer[0] if answer is not None else None

    def _wait(self, answered: threading.Event | None) -> None:
        if answered is None or self._left <= 0:
            return
        before = self._system.uptime()
        arrived = answered.wait(self._left)
        waited = self._system.uptime() - before
        self._left = max(0.0, self._left - waited) if arrived else 0.0

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._answer, name="users", daemon=True)
            self._thread.start()

    def _answer(self) -> None:
        while True:
            uid = self._questions.get()
            name = self._system.user_name(uid)
            known = self._known.get(uid)
            if name is None and known is not None:
                name = known[0]  # a directory that forgot for a while renames nobody
            keep = KEEP if name is not None else KEEP_UNKNOWN
            self._known[uid] = (name, self._system.uptime() + keep)
            self._asked.pop(uid).set()
