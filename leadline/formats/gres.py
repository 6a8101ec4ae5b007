"""
Generic resources and trackable resources as Slurm writes them: one reader for every spelling.

`gpu:rtx8000:8(S:0-1)`, `gpu:a100_1g.5gb:7`, `gpu:8`, `gres/gpu=4,gres/gpu:a100=4`, `(null)` …
A typed and an untyped entry of one name speak of the same devices, so they are never added up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import FormatError

NOTHING = frozenset({"", "(null)", "n/a", "none", "unknown"})
SHAPE = re.compile(
    r"([A-Za-z_][\w./-]*?)"  # name
    r"(?::(?!\d+[kKmMgGtT]?$)([\w.+-]*[A-Za-z_][\w.+-]*))?"  # type: not a number with its unit
    r"(?:[:=](\d+)([kKmMgGtT]?))?"  # count
)
UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


@dataclass(frozen=True, slots=True)
class Gres:
    """
    One entry: so many devices of a name, of one type where it is told.
    """

    name: str  # gpu, tpu, shard …
    type: str | None  # rtx8000; None when the entry does not say
    count: int
    detail: str = ""  # what stood in parentheses: sockets S:0-1 or indices IDX:0-7

    def __str__(self) -> str:
        kind = f":{self.type}" if self.type else ""
        detail = f"({self.detail})" if self.detail else ""
        return f"{self.name}{kind}:{self.count}{detail}"


def parse_gres(text: str | None) -> tuple[Gres, ...]:
    """
    Every entry of a GRES text, or of the gres/ entries of a TRES text, in its order.
    """
    if text is None or text.strip().lower() in NOTHING:
        return ()
    found = (_entry(part) for part in _split(text.strip()))
    return tuple(one for one in found if one is not None)


def _split(text: str) -> Iterable[str]:
    """
    At commas, but not at those in parentheses: gpu:2(IDX:0,3).
    """
    depth = start = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
        if depth not in (0, 1):
            raise FormatError(f"generic resources: parentheses do not match in {text[:80]!r}")
    if depth:
        raise FormatError(f"generic resources: parentheses do not match in {text[:80]!r}")
    yield text[start:]


def _entry(part: str) -> Gres | None:
    plain, _, rest = part.strip().partition("(")
    detail = rest.rpartition(")")[0]
    is_tres = "=" in plain
    if is_tres and not plain.startswith("gres/"):
        return None  # cpu=4, mem=16G, billing=8: not generic resources
    if plain.lower() in NOTHING:
        return None
    match = SHAPE.fullmatch(plain.removeprefix("gres/").removeprefix("gres:"))
    if match is None:
        raise FormatError(f"generic resources: {part[:80]!r} is not understood")
    name, kind, number, unit = match.groups()
    count = int(number) * UNITS[unit.lower()] if number else 1  # a bare name is one device
    return Gres(name, kind or None, count, detail)


def counts(entries: Iterable[Gres], name: str = "gpu") -> dict[str | None, int]:
    """
    Devices of NAME by type, None for those no entry gives a type. Nothing is counted twice: an
    untyped entry is the total, of which only what the typed ones leave is untyped.
    """
    typed: dict[str | None, int] = {}
    untyped = 0
    for one in entries:
        if one.name != name:
            continue
        if one.type is None:
            untyped += one.count
        else:
            typed[one.type] = typed.get(one.type, 0) + one.count
    rest = untyped - sum(typed.values())
    return typed | ({None: rest} if rest > 0 else {})


def total(entries: Iterable[Gres], name: str = "gpu") -> int:
    return sum(counts(entries, name).values())


def parse_tres(text: str | None) -> dict[str, int]:
    """
    `cpu=4,mem=16G,node=1,gres/gpu=2` as numbers, memory in bytes; unknown names are kept.
    """
    if text is None or text.strip().lower() in NOTHING:
        return {}
    found: dict[str, int] = {}
    for part in text.strip().split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise FormatError(f"trackable resources: {part[:80]!r} has no value")
        found[name] = parse_memory(value) if name == "mem" else _count(part, value)
    return found


def _count(part: str, value: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT]?)", value)
    if match is None:
        raise FormatError(f"trackable resources: {part[:80]!r} is not a number")
    return int(float(match[1]) * UNITS[match[2].lower()])


def parse_memory(text: str, unit: str = "M") -> int:
    """
    Bytes of 16G, 4000M, 1.5T; a bare number counts in UNIT, megabytes as Slurm's settings do.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtTpP]?)[bB]?", text.strip())
    if match is None:
        raise FormatError(f"memory: {text[:40]!r} is not understood; like 16G")
    factor = {**UNITS, "p": 1024**5}[(match[2] or unit).lower()]
    return int(float(match[1]) * factor)


# A card's type as sites write it → the model as reports call it. What is not here stays as it is.
MODELS: Mapping[str, str] = {
    "a100": "A100",
    "a100-40": "A100 40 GB",
    "a100_40": "A100 40 GB",
    "a100-80": "A100 80 GB",
    "a100_80": "A100 80 GB",
    "nvidia_a100": "A100",
    "nvidia_a100-sxm4-40gb": "A100 40 GB",
    "nvidia_a100-sxm4-80gb": "A100 80 GB",
    "nvidia_a100-pcie-40gb": "A100 40 GB",
    "nvidia_a100_80gb_pcie": "A100 80 GB",
    "a30": "A30",
    "a40": "A40",
    "l4": "L4",
    "l40": "L40",
    "l40s": "L40S",
    "h100": "H100",
    "nvidia_h100": "H100",
    "nvidia_h100_80gb_hbm3": "H100",
    "h200": "H200",
    "nvidia_h200": "H200",
    "gh200": "GH200",
    "b200": "B200",
    "p100": "P100",
    "tesla_p100": "P100",
    "v100": "V100",
    "tesla_v100": "V100",
    "v100s": "V100S",
    "t4": "T4",
    "tesla_t4": "T4",
    "k80": "K80",
    "rtx8000": "RTX 8000",
    "quadro_rtx_8000": "RTX 8000",
    "rtx6000": "RTX 6000",
    "quadro_rtx_6000": "RTX 6000",
    "rtx3090": "RTX 3090",
    "rtx4090": "RTX 4090",
    "rtx2080ti": "RTX 2080 Ti",
    "mi100": "MI100",
    "mi210": "MI210",
    "mi250": "MI250",
    "mi250x": "MI250X",
    "mi300x": "MI300X",
    "mi300a": "MI300A",
}
MIG = re.compile(r"(.+?)[_.-]?((?:\d+c\.)?\d+g\.\d+gb(?:\+me)?)", re.IGNORECASE)


def model(kind: str | None, table: Mapping[str, str] = MODELS) -> str | None:
    """
    The harmonised name of a card's type; one that nobody knows stays as it was written.
    """
    if kind is None:
        return None
    key = kind.lower().replace(" ", "_")
    if key in table:
        return table[key]
    part = MIG.fullmatch(key)
    if part is not None:
        return f"{table.get(part[1], part[1])} MIG {part[2]}"
    return kind


def by_model(entries: Iterable[Gres], table: Mapping[str, str] = MODELS) -> dict[str, int]:
    """
    GPUs by harmonised model; those without a type are `unknown`.
    """
    found: dict[str, int] = {}
    for kind, count in counts(entries).items():
        name: Any = model(kind, table) or "unknown"
        found[name] = found.get(name, 0) + count
    return dict(sorted(found.items()))
