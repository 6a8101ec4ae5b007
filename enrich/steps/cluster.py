"""
Step `cluster`: whose document it is. The name bound to the sender wins; aliases become the
name of today.
"""

from __future__ import annotations

import re

from enrich.step import Context, Fields, Step
from leadline.errors import FormatError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")


def build(context: Context) -> Step:
    def name_cluster(recorded: str | None) -> Fields:
        name = context.cluster or recorded
        if name is None:
            raise FormatError("cluster: missing; name it with --cluster NAME")
        if not NAME.fullmatch(name):
            raise FormatError(f"cluster: {name[:40]!r} is no name; use letters, digits, _ . -")
        return {"cluster": context.canonical(name)}

    return Step(name="cluster", reads=("cluster",), writes=("cluster",), compute=name_cluster)
