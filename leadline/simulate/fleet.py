"""
The machines and the people of a simulated cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal
from uuid import UUID

Kind = Literal["login", "gpu", "bigmem", "cpu"]
Drain = tuple[int, int, str, str]  # from, to, why, who said so
WHY = (
    ("fan noise", "root"),
    ("memory errors on DIMM 3", "root"),
    ("firmware update", "olav"),
    ("scratch is full", "slurm"),
)

GIB = 1 << 30

MODELS = ("A100", "H100", "A40")
NAMES = (
    "alice bjorn chen dag eva farid greta hana ivan jana karim lena marco nadia olav petra quentin"
    " ravi sofie tomas uma vera wei xenia yusuf zoe anders birgit carlos dina emil fatima gustav"
    " helga ines jonas kaja liam maria nils oda pablo ragna signe tarek ulla viktor wilma yara"
)
FIRST_NAMES = NAMES.split()
FIELDS = ("chemistry", "life", "climate", "physics", "learning")
SHARES = (30, 26, 16, 14, 14)


@dataclass(slots=True, eq=False)
class Host:
    """
    A node, what it has, and how much of it is free while jobs are placed.
    """

    name: str
    kind: Kind
    cores: int
    memory: int
    cards: int
    model: str
    boot: str
    booted: int  # seconds since the epoch
    delay: float  # how long before the full tick it takes its sample
    down: tuple[int, int] | None = None  # silent in this span
    drains: tuple[Drain, ...] = ()  # closed to new jobs in these
    free: int = 0
    free_cards: list[int] = field(default_factory=list)

    def is_closed(self, moment: float) -> bool:
        """
        No job starts here: it is drained, or goes down within half an hour.
        """
        if self.down and self.down[0] - 1800 <= moment < self.down[1]:
            return True
        return any(first <= moment < last for first, last, _, _ in self.drains)

    @property
    def partition(self) -> str:
        return {"gpu": "accel", "bigmem": "bigmem"}.get(self.kind, "normal")


@dataclass(frozen=True, slots=True)
class User:
    name: str
    uid: int
    field: str
    group: str
    project: str
    weight: float


@dataclass(frozen=True, slots=True)
class Fleet:
    hosts: tuple[Host, ...]
    users: tuple[User, ...]

    @property
    def compute(self) -> tuple[Host, ...]:
        return tuple(host for host in self.hosts if host.kind != "login")

    @property
    def login(self) -> tuple[Host, ...]:
        return tuple(host for host in self.hosts if host.kind == "login")


def build_fleet(random: Random, nodes: int, start: int, end: int, seed: int = 0) -> Fleet:
    hosts = [_host(random, kind, number, start) for kind, number in _names(nodes)]
    plain = [host for host in hosts if host.kind == "cpu"]
    days = (end - start) / 86400
    if len(plain) > 3 and days >= 3:
        silent = plain[random.randrange(1, len(plain))]
        since = start + int((0.3 + 0.3 * random.random()) * (end - start))
        silent.down = (since, since + int(min(1.6, days / 4) * 86400))
    _drain(Random(f"{seed}/drains"), hosts, start, end)  # noqa: S311 - a simulation
    return Fleet(tuple(hosts), tuple(_users(random, max(8, min(2000, nodes)))))


def _drain(random: Random, hosts: list[Host], start: int, end: int) -> None:
    """
    Every compute node is drained about once in two months; not in the first days.
    """
    for host in hosts:
        at = start + 2 * 86400 + random.expovariate(1 / (60 * 86400))
        while host.kind != "login" and at < end - 86400:
            until = at + random.uniform(2, 60) * 3600
            host.drains += ((int(at), int(until), *random.choice(WHY)),)
            at = until + random.expovariate(1 / (60 * 86400))


def _names(nodes: int) -> list[tuple[Kind, int]]:
    login = 1 if nodes >= 4 else 0
    gpu = max(1, nodes // 5) if nodes >= 2 else 0
    big = nodes // 10
    counts: tuple[tuple[Kind, int], ...] = (
        ("login", login),
        ("gpu", gpu),
        ("bigmem", big),
        ("cpu", nodes - login - gpu - big),
    )
    return [(kind, number) for kind, count in counts for number in range(1, count + 1)]


def _host(random: Random, kind: Kind, number: int, start: int) -> Host:
    shape = {"login": (32, 128, 0), "gpu": (48, 512, 4), "bigmem": (64, 2048, 0)}
    cores, memory, cards = shape.get(kind, (64, 256, 0))
    prefix = "c1" if kind == "cpu" else kind
    boot = str(UUID(int=random.getrandbits(128), version=4))
    return Host(
        name=f"{prefix}-{number}",
        kind=kind,
        cores=cores,
        memory=memory * GIB,
        cards=cards,
        model=MODELS[number % 3] if cards else "",
        boot=boot,
        booted=start - random.randrange(3 * 86400, 40 * 86400),
        delay=random.randrange(10, 20_000) / 1000,
        free=cores,
        free_cards=list(range(cards)),
    )


def _users(random: Random, count: int) -> list[User]:
    users = []
    for place in range(count):
        kind = random.choices(FIELDS, SHARES)[0]
        team = 1 + random.randrange(1 + count // 25)
        name = FIRST_NAMES[place % len(FIRST_NAMES)]
        turn = place // len(FIRST_NAMES)
        users.append(
            User(
                name=f"{name}{turn}" if turn else name,
                uid=20_000 + 7 * place,
                field=kind,
                group=f"{kind[:4]}-{team}",
                project=f"nn{9000 + 100 * FIELDS.index(kind) + team}k",
                weight=1 / (1 + place) ** 0.8,
            )
        )
    return users
