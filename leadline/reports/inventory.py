"""
What each node has: as the scheduler tells, as the node itself tells, as the settings list it.

The scheduler is believed first, then the node, then the list; only the type of a node is the
list's to say, for no scheduler knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.gres import Gres, by_model, parse_gres
from leadline.formats.hostlist import expand_hosts
from leadline.settings.typed import Size

Host = tuple[str, str]  # cluster and name


@dataclass(frozen=True, slots=True)
class NodesSettings:
    """
    Nodes that are alike.
    """

    cluster: str
    hosts: str  # c1-[1-40],gpu-2: their short names, folded as Slurm does
    cores: int = 0  # physical cores of each; 0: not told
    memory: Size = Size(0)  # of each; 0: not told
    gpus: str = ""  # cards of each, a100:4 or a100:2,l40s:2
    partitions: tuple[str, ...] = ()  # partitions or queues they are in
    type: str = ""  # kind of node, as reports should call it

    def __post_init__(self) -> None:
        try:
            names, _ = expand_hosts(self.hosts), cards(self.gpus)
        except FormatError as error:
            raise ValueError(str(error)) from None
        if not names:
            raise ValueError("hosts: names no host")
        if self.cores < 0:
            raise ValueError(f"cores: {self.cores} is less than 0")


@dataclass(frozen=True, slots=True)
class InventorySettings:
    nodes: tuple[NodesSettings, ...] = ()  # what no scheduler and no node tells by itself

    def __post_init__(self) -> None:
        seen: set[Host] = set()
        for one in self.nodes:
            for host in hosts_of(one):
                if host in seen:
                    raise ValueError(f"nodes: {host[0]}/{host[1]} is listed twice")
                seen.add(host)


@dataclass(frozen=True, slots=True)
class Fitted:
    """
    What a node has; None and empty where nobody told.
    """

    cores: float | None = None
    memory: float | None = None
    cards: Mapping[str, int] = field(default_factory=dict)  # by model
    partitions: tuple[str, ...] = ()
    type: str | None = None


Inventory = Mapping[Host, Fitted]


def cards(text: str) -> tuple[Gres, ...]:
    """
    `a100:4` and `gpu:a100:4` are the same here: nothing else than cards is listed.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    return parse_gres(",".join(w if w.startswith("gpu:") else f"gpu:{w}" for w in words))


def hosts_of(listed: NodesSettings) -> list[Host]:
    names = {name.partition(".")[0].lower() for name in expand_hosts(listed.hosts)}
    return [(listed.cluster, name) for name in sorted(names)]


def read_inventory(settings: InventorySettings) -> Inventory:
    return {
        host: Fitted(
            one.cores or None,
            one.memory or None,
            by_model(cards(one.gpus)),
            tuple(sorted(one.partitions)),
            one.type or None,
        )
        for one in settings.nodes
        for host in hosts_of(one)
    }


def told_by(document: Document) -> Fitted:
    """
    As a `node_state` or `node` document tells.
    """
    models, partitions = document.get("gpu.by_model"), document.get("partitions")
    kind = document.get("node.type")
    return Fitted(
        _amount(document.get("node.cores")),
        _amount(document.get("memory.total.bytes")),
        {n: int(c["total"]) for n, c in models.items()} if isinstance(models, dict) else {},
        tuple(sorted(map(str, partitions))) if isinstance(partitions, list) else (),
        str(kind) if kind else None,
    )


def together(*told: Fitted | None, listed: Fitted | None = None) -> Fitted:
    """
    The first who tells a thing is believed; LISTED last, but first on the type. A node of no type
    is of its partition's.
    """
    all_of = [one for one in (*told, listed) if one is not None]
    types = [one.type for one in (listed, *told) if one is not None and one.type]
    partitions = next((one.partitions for one in all_of if one.partitions), ())
    return Fitted(
        next((one.cores for one in all_of if one.cores is not None), None),
        next((one.memory for one in all_of if one.memory is not None), None),
        next((one.cards for one in all_of if one.cards), {}),
        partitions,
        types[0] if types else next(iter(partitions), None),
    )


def _amount(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
