"""
The four lists of the screen: their columns, and how rows are filtered, sorted and written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.render.text import fit, safe_text

Row = Mapping[str, Any]
Write = Callable[[Row], str]
GIB = 1 << 30
NONE = "–"
LEAST = 10  # columns the widest one keeps


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    width: int  # 0: what is left of the line
    write: Write
    sort: Callable[[Row], Any]
    right: bool = False
    falling: bool = False  # the greatest first, when it is chosen


@dataclass(frozen=True, slots=True)
class View:
    name: str
    columns: tuple[Column, ...]
    first: int  # the column it is sorted by at first
    words: tuple[str, ...]  # fields a filter looks into
    alarm: Callable[[Row], bool] = lambda row: False

    def widths(self, room: int) -> list[int]:
        """
        For ROOM characters, two of them between columns.
        """
        fixed = sum(column.width for column in self.columns)
        rest = max(LEAST, room - fixed - 2 * len(self.columns))
        return [column.width or rest for column in self.columns]

    def chosen(self, rows: Sequence[Row], wanted: str) -> list[Row]:
        """
        Rows that hold every word of WANTED; -word must not be in them.
        """
        parts = wanted.lower().split()
        return [row for row in rows if all(self._holds(row, part) for part in parts)]

    def _holds(self, row: Row, part: str) -> bool:
        text = " ".join(str(row.get(name) or "") for name in self.words).lower()
        if part.startswith("-") and len(part) > 1:
            return part[1:] not in text
        return part in text

    def ordered(self, rows: Sequence[Row], column: int, reverse: bool) -> list[Row]:
        """
        Not measured comes last either way.
        """
        by = self.columns[column]
        known = [row for row in rows if by.sort(row) is not None]
        falling = by.falling != reverse
        known.sort(key=by.sort, reverse=falling)
        return known + [row for row in rows if by.sort(row) is None]

    def cells(self, row: Row, widths: Sequence[int]) -> list[str]:
        return [
            fit(safe_text(column.write(row)), width)
            for column, width in zip(self.columns, widths, strict=True)
        ]


def number(value: object, digits: int = 1) -> str:
    if not isinstance(value, int | float):
        return NONE
    return f"{value:,.{digits}f}" if abs(value) < 99.95 else f"{value:,.0f}"


def gib(value: object) -> str:
    return number(value / GIB) if isinstance(value, int | float) else NONE


def of(part: object, whole: object, digits: int = 0) -> str:
    return f"{number(part, digits)}/{number(whole, 0)}"


def _text(name: str, title: str, width: int) -> Column:
    return Column(
        title, width, lambda row: str(row.get(name) or NONE), lambda row: row.get(name)
    )  # fmt: skip


def _figure(name: str, title: str, width: int, write: Callable[[object], str]) -> Column:
    return Column(
        title,
        width,
        lambda row: write(row.get(name)),
        lambda row: row.get(name),
        right=True,
        falling=True,
    )


def _natural(row: Row) -> tuple[str, list[tuple[int, str]]]:
    """
    c1-2 before c1-10.
    """
    parts = "".join(c if c.isdigit() else f" {c} " for c in str(row.get("host"))).split()
    return str(row.get("cluster")), [(int(p), "") if p.isdigit() else (-1, p) for p in parts]


HOST = Column("Node", 9, lambda row: str(row.get("host") or NONE), _natural)


def _share(part: str, whole: str) -> Callable[[Row], float | None]:
    def share(row: Row) -> float | None:
        over, under = row.get(part), row.get(whole)
        return over / under if over is not None and under else None

    return share


def _job(row: Row) -> str:
    if row.get("stray"):
        return "stray"
    cluster, _, job = str(row.get("job") or NONE).partition("/")
    if "/" in job:  # no scheduler stands behind it: HOST/BOOT-SESSION-TICKS
        return f"s{job.rsplit('-', 2)[-2]}"
    return job or cluster


RUNNING = View(
    "Running",
    (
        _text("user", "User", 9),
        HOST,
        _figure("cores", "Cores", 6, number),
        _figure("gpus", "GPUs", 5, number),
        _figure("memory_bytes", "GiB", 6, gib),
        Column("Job", 9, _job, lambda row: row.get("job")),
        _text("program", "Program", 0),
    ),
    first=2,
    words=("user", "host", "cluster", "program", "job"),
    alarm=lambda row: bool(row.get("stray")),
)
NODES = View(
    "Nodes",
    (
        HOST,
        Column(
            "Busy/cores", 10, lambda row: of(row.get("cores_busy"), row.get("cores"), 1),
            _share("cores_busy", "cores"), right=True, falling=True,
        ),
        _figure("load", "Load", 6, number),
        Column(
            "GiB used/of", 11,
            lambda row: f"{gib(row.get('memory_bytes'))}/{gib(row.get('memory_total_bytes'))}",
            _share("memory_bytes", "memory_total_bytes"), right=True, falling=True,
        ),
        Column(
            "GPUs", 6, lambda row: of(row.get("gpus_busy"), row["gpus"], 1) if row["gpus"] else "",
            _share("gpus_busy", "gpus"), right=True, falling=True,
        ),
        _figure("users", "Users", 5, lambda value: number(value, 0)),
        _text("state", "State", 0),
    ),
    first=0,
    words=("host", "cluster", "state"),
    alarm=lambda row: bool(row.get("silent")),
)  # fmt: skip
GPUS = View(
    "GPUs",
    (
        HOST,
        Column("Card", 4, lambda row: str(row.get("gpu", "")), lambda row: row.get("gpu")),
        _figure("busy_percent", "Busy %", 6, lambda value: number(value, 0)),
        Column(
            "GiB used/of", 11,
            lambda row: f"{gib(row.get('memory_bytes'))}/{gib(row.get('memory_total_bytes'))}",
            _share("memory_bytes", "memory_total_bytes"), right=True, falling=True,
        ),
        _figure("temperature_celsius", "°C", 4, lambda value: number(value, 0)),
        _figure("power_watts", "W", 5, lambda value: number(value, 0)),
        Column(
            "Model", 0, lambda row: f"{'FAILING ' if row.get('failing') else ''}{row.get('model')}",
            lambda row: str(row.get("model")),
        ),
    ),
    first=0,
    words=("host", "cluster", "model", "uuid"),
    alarm=lambda row: bool(row.get("failing")),
)  # fmt: skip
FINDINGS = View(
    "Findings",
    (
        _text("kind", "Finding", 14),
        _text("object", "Where", 16),
        _text("user", "User", 9),
        _figure("hours", "Hours", 7, number),
        _text("evidence", "Evidence", 0),
    ),
    first=3,
    words=("kind", "object", "user", "cluster", "evidence"),
    alarm=lambda row: row.get("severity") == "red",
)
VIEWS = (RUNNING, NODES, GPUS, FINDINGS)
