"""
What Slurm told, whichever way it was asked: the three readers fill the same records.
"""

from __future__ import annotations

from dataclasses import dataclass

from leadline.formats.gres import Gres, counts, parse_gres


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSeen:
    """
    A job now. Times are Unix seconds, None where Slurm has none yet.
    """

    id: int
    state: str
    flags: tuple[str, ...] = ()
    reason: str | None = None
    submit: int | None
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    limit: int | None = None  # seconds
    user: str | None = None
    uid: int | None = None
    group: str | None = None
    account: str | None = None
    partition: str | None = None
    qos: str | None = None
    name: str | None = None
    cpus: int | None = None
    node_count: int | None = None
    nodes: str | None = None  # folded, as Slurm writes it
    gpus: tuple[Gres, ...] = ()
    priority: int | None = None
    reservation: str | None = None
    array_id: int | None = None
    array_task: str | None = None
    het_id: int | None = None
    het_offset: int | None = None
    work_dir: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSeen:
    name: str
    state: str
    hostname: str | None = None  # what the machine calls itself
    flags: tuple[str, ...] = ()
    reason: str | None = None
    reason_user: str | None = None
    reason_time: int | None = None
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    cpus: int | None = None
    cores: int | None = None
    cpus_allocated: int | None = None
    memory: int | None = None  # bytes
    memory_allocated: int | None = None
    gres: tuple[Gres, ...] = ()
    gres_used: tuple[Gres, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationSeen:
    name: str
    start: int | None
    end: int | None
    nodes: str | None
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    partition: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """
    One tick's answers; None: that kind was not answered, so nothing is concluded from it.
    """

    jobs: list[JobSeen]
    nodes: list[NodeSeen]
    reservations: list[ReservationSeen] | None


def short(name: str) -> str:
    """
    A node's name as documents have it: `GPU-2.fox` and `gpu-2` are one.
    """
    return name.partition(".")[0].lower()


def plain_gres(text: str | None) -> tuple[Gres, ...]:
    """
    Entries without sockets and indices, every device once, none of which there are none: the one
    form in which the three ways of asking agree.
    """
    entries = parse_gres(text)
    found = {
        (name, kind): count
        for name in {one.name for one in entries}
        for kind, count in counts(entries, name).items()
    }
    return tuple(
        Gres(name, kind, count)
        for (name, kind), count in sorted(found.items(), key=lambda item: str(item[0]))
        if count
    )


def text_or_none(value: object) -> str | None:
    text = "" if value is None else str(value).strip()
    return None if text in ("", "(null)", "N/A", "None assigned", "n/a") else text


def reason_of(value: object) -> str | None:
    """
    `None` is Slurm's word for no reason.
    """
    text = text_or_none(value)
    return None if text == "None" else text


def listed(value: object) -> tuple[str, ...]:
    """
    `a,b`, ["b", "a"] or nothing as a sorted set.
    """
    if isinstance(value, list | tuple):
        found = {text for item in value if (text := text_or_none(item))}
    else:
        found = {word for word in (text_or_none(value) or "").split(",") if word}
    return tuple(sorted(found))
