"""
Step `program`: name the program behind a command line, by the first rule that matches.
"""

from __future__ import annotations

from enrich.step import Context, Fields, Step

READS = ("process.name", "process.executable", "process.command_line")
SAMPLED = frozenset({"process", "process_gpu"})


def build(context: Context) -> Step:
    match = context.rules.match

    def name_program(name: str | None, executable: str | None, line: str | None) -> Fields:
        if not (name or executable or line):
            return {}
        found = match(name, executable, line)
        named = {
            "program.name": found.program,
            "program.version": found.version,
            "program.rule": found.rule,
            "command.shape": found.shape,
        }
        return {field: value for field, value in named.items() if value}

    return Step(
        name="program",
        reads=READS,
        writes=("program.name", "program.version", "program.rule", "command.shape"),
        compute=name_program,
        datasets=SAMPLED,
    )
