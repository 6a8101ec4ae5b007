"""
More than any centre has: what pages are tried with.
"""

from __future__ import annotations

from datetime import timedelta

from tests.web.conftest import NOW, job, node, process


def huge() -> list[dict[str, object]]:
    """
    Ten thousand users, a thousand programs, five hundred nodes.
    """
    moment = NOW - timedelta(minutes=30)
    people = [
        process(
            moment,
            number,
            **{
                "user.name": f"user{number}",
                "program.name": f"program{number % 1000}",
                "host.name": f"c{number % 10}-{number % 500}",
                "process.command_line": f"gmx mdrun -s {number}.tpr",
                "project": f"nn{number % 2000}k",
            },
        )
        for number in range(10_000)
    ]
    nodes = [node(moment, f"c{number % 10}-{number}") for number in range(500)]
    jobs = [job(moment - timedelta(seconds=n), 100 + n) for n in range(2000)]
    return [*people, *nodes, node(moment, "c1-0"), *jobs]
