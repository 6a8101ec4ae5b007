"""
Like processes of one job become one document: a thousand MPI ranks are one fact, not a thousand.
"""

from __future__ import annotations

from shipper.seen import Seen


def roll_up(processes: list[Seen]) -> tuple[list[Seen], list[list[Seen]]]:
    """
    Processes that stand alone, and groups of like ones.

    A process whose delta is not known never hides among those whose delta is.
    """
    first: dict[object, Seen] = {}
    several: dict[object, list[Seen]] = {}
    for process in processes:
        key = _key(process)
        other = first.setdefault(key, process)
        if other is not process:
            several.setdefault(key, [other]).append(process)
    if not several:
        return processes, []
    return [first[key] for key in first if key not in several], list(several.values())


def _key(process: Seen) -> object:
    measured = process.cpu_user is not None, process.io_read is not None
    dead = process.state == "Z"
    if measured == (True, True) and not dead and not process.stray:
        return process.kin
    return process.kin, *measured, dead, process.stray
