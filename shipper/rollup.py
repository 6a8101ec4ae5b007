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
    kin: dict[object, list[Seen]] = {}
    for process in processes:
        measured = process.cpu_user is not None, process.io_read is not None
        if measured == (True, True) and process.state != "Z" and not process.stray:
            key: object = process.kin
        else:
            key = (process.kin, *measured, process.state == "Z", process.stray)
        if key in kin:
            kin[key].append(process)
        else:
            kin[key] = [process]
    single: list[Seen] = []
    groups: list[list[Seen]] = []
    for group in kin.values():
        if len(group) == 1:
            single.append(group[0])
        else:
            groups.append(group)
    return single, groups
