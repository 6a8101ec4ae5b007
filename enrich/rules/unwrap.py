"""
What really runs: a command line peeled layer by layer, from `srun apptainer exec x.sif python -m
snakemake` to `snakemake`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from enrich.rules.wrappers import Kind, Wrapper, wrapper

LONGEST = 2048  # characters of a command line that are looked at
COMM = 15  # bytes the kernel keeps of a command's name
_DEPTH = 8
_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|["'\\])+""")
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\([\s"'\\])""")
_ESCAPED = re.compile(r"""\\(["'\\$`])""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"[\d.,:x-]+")
_SEPARATOR = re.compile(r"\s*(?:&&|\|\||[;|&\n])\s*")
_TRIVIAL = frozenset(
    (
        *("cd", "export", "source", ".", "set", "unset", "module", "ml", "ulimit", "umask"),
        *("echo", "printf", "true", "false", ":", "test", "[", "[[", "mkdir", "rm", "cp", "mv"),
        *("ln", "touch", "chmod", "trap", "wait", "sleep", "date", "hostname", "shopt", "eval"),
        *("pwd", "if", "then", "else", "fi", "for", "do", "done", "while", "read", "local"),
        *("declare", "exit", "return"),
    )
)


@dataclass(frozen=True, slots=True)
class Level:
    """
    One layer of a command: who it is, the file it is, and the command as rules on args see it.
    """

    name: str
    path: str
    text: str
    cut: bool = False  # the name may have been cut at 15 bytes


def words(text: str) -> list[str]:
    """
    The words of a command line, quotes removed. Never fails: an unclosed quote is a character.
    """
    text = text[:LONGEST]
    if '"' not in text and "'" not in text and "\\" not in text:
        return text.split()
    return [_QUOTED.sub(_unquoted, word) for word in _WORD.findall(text)]


def _unquoted(found: re.Match[str]) -> str:
    single, double, escaped = found.groups()
    if double is not None:
        return _ESCAPED.sub(r"\1", double)
    return str(escaped if single is None else single)


def base_name(word: str) -> str:
    """
    The command's name in its first word: no folder, no login dash, no colon of a rewritten title.
    """
    name = word.rstrip("/").rpartition("/")[2].rpartition("\\")[2]
    return name.removeprefix("-").rstrip(":") or word


def levels(name: str | None, executable: str | None, command_line: str | None) -> list[Level]:
    """
    The layers of a command in the order they are asked: what runs, the names the kernel gives,
    then interpreters and launchers from the inside out.
    """
    argv = words(command_line or "")
    outer = base_name(argv[0]) if argv else ""
    executable = (executable or "").removesuffix(" (deleted)")
    inner, tail = _peel(argv, executable)
    seen = {level.name for level in (*inner, *tail)}
    if name and not _same(name, seen):
        inner.append(Level(name, "", name, cut=len(name.encode()) == COMM))
        seen.add(name)
    if executable:
        called = base_name(executable)
        if called not in seen and called != outer and wrapper(called) is None:
            inner.append(Level(called, executable, called))
    return inner + tail


def _same(name: str, seen: set[str]) -> bool:
    if name in seen:
        return True
    return len(name.encode()) == COMM and any(other.startswith(name) for other in seen)


def _peel(argv: list[str], executable: str) -> tuple[list[Level], list[Level]]:
    inner: list[Level] = []
    tail: list[Level] = []
    path = executable
    for _ in range(_DEPTH):
        if not argv:
            break
        name = base_name(argv[0])
        level = Level(name, path or _path(argv[0]), " ".join((name, *argv[1:])))
        how = wrapper(name)
        if how is None:
            inner.append(level)
            break
        if how.kind is not Kind.PREFIX:
            tail.insert(0, level)
        inside = _inside(how, argv)
        if not inside and how.kind is Kind.PREFIX:
            inner.append(level)
        module = bool(inside) and how.dotted and argv[-len(inside) - 1] == "-m"
        argv, path = inside, ""
        if module:
            inner.append(Level(argv[0], "", " ".join(argv)))
            package, dot, _ = argv[0].partition(".")
            if dot:
                inner.append(Level(package, "", package))
            break
    return inner, tail


def _path(word: str) -> str:
    return word if "/" in word else ""


def _inside(how: Wrapper, argv: list[str]) -> list[str]:
    """
    The inner command of a wrapper's words; empty when it runs none.
    """
    rest = argv[1:]
    if how.verbs:
        place = next((i for i, word in enumerate(rest[:8]) if word in how.verbs), None)
        if place is None:
            return []
        rest = rest[place + 1 :]
    skip = how.skip
    i = 0
    while i < len(rest):
        word = rest[i]
        if word in how.code:
            return []
        if word in how.shell or (how.shell and _joined(word)):
            return _first_command(" ".join(rest[i + 1 :]))
        if word in how.modules:
            return rest[i + 1 :]
        if word == "--":
            i += 1
        elif word.startswith("-") and len(word) > 1:
            i += 2 if word in how.takes_value else 3 if word in _PAIRS else 1
        elif how.assignments and _ASSIGNMENT.match(word):
            i += 1
        elif skip:
            skip -= 1
            i += 1
        elif how.kind is not Kind.INTERPRETER and _NUMBER.fullmatch(word):
            i += 1
        else:
            return rest[i:]
    return []


_PAIRS = frozenset(("-mca", "--mca", "-gmca", "--gmca", "-genv", "--prtemca"))


def _joined(word: str) -> bool:
    """
    Shell flags in one word that end in c, as `bash -lc`.
    """
    return word.startswith("-") and not word.startswith("--") and word.endswith("c")


def _first_command(line: str) -> list[str]:
    """
    The first command of a shell's line that is not mere preparation.
    """
    for argv in _commands(line):
        if argv[0] not in _TRIVIAL:
            return argv
    return []


def _commands(line: str) -> Iterator[list[str]]:
    for part in _SEPARATOR.split(line):
        argv = words(part)
        while argv and _ASSIGNMENT.match(argv[0]):
            argv = argv[1:]
        if argv:
            yield argv
