"""
One rule: a pattern, and the program it names. What a pattern means is said here once.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from enrich.rules.engine import compile_pattern

APPLIES_TO: Final = ("name", "path", "args")
NOTHING: Final = "-"  # as a program: leave these commands unnamed

_LITERAL = re.compile(r"[A-Za-z0-9_.+/@:#,=-]+")
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_EDGE_START = re.compile(r"[/\-_=\s^]|\\[.\-/s]")
_EDGE_END = re.compile(r"(?:[/\-_=\s$]|\\[.\-/s])$")

LEFT: Final = "(?:^|[^0-9A-Za-z])"
RIGHT: Final = "(?:$|[^0-9A-Za-z])"


def is_exact(pattern: str) -> bool:
    """
    Whether PATTERN is a plain string: no character in it means anything to a regular expression,
    where a single dot or plus is taken literally (`cp2k.popt`, `g++`).
    """
    return bool(_LITERAL.fullmatch(pattern)) and ".+" not in pattern


@dataclass(frozen=True, kw_only=True)
class Rule:
    pattern: str
    program: str | None  # None: commands that shall stay unnamed
    version: str | None = None
    path: str | None = None
    tags: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ("name",)
    file: str = ""
    line: int = 0
    where: str = field(default="", compare=False)  # the whole path of the file, for error lines

    @property
    def source(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def exact(self) -> bool:
        return is_exact(self.pattern)

    @property
    def text(self) -> str:
        """
        What the version of a set of rules is made from: everything that changes an answer.
        """
        parts = (self.pattern, self.program, self.version, self.path, *self.tags, *self.applies_to)
        return "\t".join("" if part is None else part for part in parts)

    @property
    def inner(self) -> str:
        """
        The pattern as one group, whatever alternatives or flags it holds.
        """
        if self.exact:
            return re.escape(self.pattern)
        flags = _FLAGS.match(self.pattern)
        if flags:
            return f"(?{flags[1]}:{self.pattern[flags.end() :]})"
        return f"(?:{self.pattern})"

    def anchored(self, target: str) -> str:
        """
        The pattern with its word borders: a name from its start on, path and arguments anywhere.
        """
        right = "" if _EDGE_END.search(self.pattern) else RIGHT
        if target == "name":
            return f"^{self.inner}{right}"
        left = "" if _EDGE_START.match(self.pattern) else LEFT
        return f"{left}{self.inner}{right}"

    @cached_property
    def _whole(self) -> Any:
        return compile_pattern(f"^{self.inner}$")

    @cached_property
    def _anchored(self) -> Mapping[str, Any]:
        return {target: compile_pattern(self.anchored(target)) for target in self.applies_to}

    def confirm(self, target: str, text: str, *, whole: bool) -> tuple[bool, str | None]:
        """
        Whether the rule holds for TEXT, and the version it captured.
        """
        pattern = self._whole if whole else self._anchored[target]
        found = pattern.search(text)
        if found is None:
            return False, None
        return True, found.groupdict().get("version") or None
