"""
Step `tags`: the program's place in the hierarchy and its tags.
"""

from __future__ import annotations

from enrich.step import Context, Fields, Step
from enrich.steps.program import READS, SAMPLED

LEVELS = ("program.level1", "program.level2", "program.level3")


def build(context: Context) -> Step:
    match = context.rules.match

    def tag(name: str | None, executable: str | None, line: str | None) -> Fields:
        if not (name or executable or line):
            return {}
        found = match(name, executable, line)
        parts = found.path.split("/") if found.path else []
        fields: dict[str, object] = {
            level: "/".join(parts[: depth + 1]) for depth, level in enumerate(LEVELS[: len(parts)])
        }
        if found.tags:
            fields["program.tags"] = sorted(set(found.tags))
        return fields

    return Step(
        name="tags",
        reads=READS,
        writes=(*LEVELS, "program.tags"),
        compute=tag,
        datasets=SAMPLED,
    )
