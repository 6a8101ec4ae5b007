"""
What a node's state means: whether a job may start there, and how its time counts.

A state is kept as the scheduler writes it, base and every flag. These functions judge it; nothing
else in leadline does. docs/slurm.md prints the table, tests/formats/test_nodestate.py holds it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

Free = Literal["idle", "reserved", "drained", "down", "unknown"]
Time = Literal["up", "down", "drained", "unknown"]

# What sinfo and older versions put behind a state instead of a flag.
SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINT",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
BROKEN_STATES = frozenset({"DOWN", "ERROR", "FAIL", "FAILING", "FUTURE", "INVAL", "INVALID"})
BROKEN_FLAGS = frozenset({"DOWN", "NOT_RESPONDING", "FAIL", "INVALID", "INVALID_REG", "INVAL"})
CLOSED_STATES = frozenset({"DRAINED", "DRAINING", "MAINT"})
CLOSED_FLAGS = frozenset({"DRAIN", "MAINT", "MAINTENANCE", "REBOOT_ISSUED", "BLOCKED"})
REMOVED = "REMOVED"  # leadline's own word: the scheduler no longer has the node
BUSY_STATES = frozenset({"ALLOCATED", "MIXED", "COMPLETING", "DRAINING", "ALLOC", "MIX"})
OPEN_STATES = frozenset({"IDLE", "PLANNED", "RESERVED", "RESV", "COMP"})


def parse_state(text: str) -> tuple[str, tuple[str, ...]]:
    """
    Base state and flags of `MIXED+DRAIN`, `idle*`, `IDLE*+DRAIN`, upper case. What nobody knows
    stays as it is.
    """
    words: list[str] = []
    flags: set[str] = set()
    for part in text.strip().split("+"):
        word = re.sub(r"[*~#!%$@^-]+$", "", part)
        flags.update(SUFFIXES[sign] for sign in part[len(word) :])
        if word:
            words.append(word.upper())
    name = words[0] if words else "UNKNOWN"
    return name, tuple(sorted(flags | set(words[1:])))


def idle_or_drained(name: str, flags: Collection[str]) -> Free:
    """
    What a core or a card of the node is that no job holds. The first line that fits decides:

    1. `down`: the base state is broken (DOWN, ERROR, FAIL, FUTURE), or the node does not answer,
       failed, or registered wrongly.
    2. `drained`: closed to new jobs (DRAIN, MAINT, a reboot under way), whether jobs still run
       there or not.
    3. `unknown`: the scheduler does not know, or says a word that is not in this module.
    4. `reserved`: only some users may start there now.
    5. `idle`: a job may start. A node that sleeps to save power is woken for it, so it is idle.
    """
    given = set(flags)
    if name in BROKEN_STATES or given & BROKEN_FLAGS:
        return "down"
    if name in CLOSED_STATES or given & CLOSED_FLAGS:
        return "drained"
    if name not in BUSY_STATES | OPEN_STATES:
        return "unknown"
    return "reserved" if name in ("RESERVED", "RESV") or "RESERVED" in given else "idle"


def time_class(name: str, flags: Collection[str]) -> Time:
    """
    How a node's time counts. A draining node whose jobs still run is `up`: it does its work, and
    the cores in use would otherwise exceed the cores there are.
    """
    free = idle_or_drained(name, flags)
    if free == "drained":
        return "up" if name in BUSY_STATES or "COMPLETING" in flags else "drained"
    return "up" if free == "idle" or free == "reserved" else free


def written(name: str, flags: Collection[str]) -> str:
    """
    MIXED+DRAIN+RESERVED.
    """
    return "+".join((name, *sorted(flags)))
