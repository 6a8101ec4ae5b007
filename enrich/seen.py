"""
Who sends: every host's last word, how late it comes, and what its shipper had to drop.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from leadline.formats import Document
from leadline.formats.times import epoch_seconds, from_epoch
from leadline.spool.segments import replace_durably

HOSTS_KEPT = 100_000


@dataclass(slots=True)
class Host:
    cluster: str
    host: str
    last_seen: str  # when its last batch came
    newest: str  # the latest moment it spoke of
    lag_seconds: float  # between the two
    documents: int = 0
    agent_version: str = ""
    dropped_by_rule: int = 0
    dropped_by_bound: int = 0
    pending: int = 0
    shipper_lag_seconds: float = 0.0


class Seen:
    """
    All hosts that ever sent, durable in PATH when `save` is called.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._hosts: dict[tuple[str, str], Host] = {}
        self._changed = False
        if path is not None:
            self._hosts = {(host.cluster, host.host): host for host in _read(path)}

    def note(self, documents: Iterable[Document], now: float) -> None:
        with self._guard:
            for document in documents:
                self._note(document, now)
            self._changed = True

    def note_moments(self, moments: Mapping[bytes, int], now: float) -> None:
        """
        Process samples that nobody has read, counted by the moment they share.
        """
        with self._guard:
            for members, count in moments.items():
                self._note({"dataset": "process", **orjson.loads(b"{" + members)}, now, count)
                self._changed = True

    def hosts(self) -> list[dict[str, object]]:
        with self._guard:
            return [asdict(self._hosts[key]) for key in sorted(self._hosts)]

    def save(self) -> None:
        if self._path is None or not self._changed:
            return
        self._changed = False
        data = orjson.dumps(self.hosts())
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_durably(self._path, data, sync=False)

    def _note(self, document: Document, now: float, count: int = 1) -> None:
        name = document.get("host.name")
        if name is None or document["dataset"] == "node_state":  # spoken of, not speaking
            return
        key = str(document.get("cluster", "")), str(name)
        host = self._hosts.get(key)
        time = str(document.get("sample.time", document["@timestamp"]))
        if host is None:
            if len(self._hosts) >= HOSTS_KEPT:
                return
            host = self._hosts[key] = Host(*key, last_seen="", newest=time, lag_seconds=0)
        host.documents += count
        if document["dataset"] != "node" and host.last_seen and time <= host.newest:
            return
        host.last_seen = from_epoch(now)
        host.newest = max(host.newest, time)
        host.lag_seconds = max(0.0, round(now - epoch_seconds(host.newest), 1))
        host.agent_version = str(document.get("agent.version", host.agent_version))
        host.dropped_by_rule += _whole(document, "shipper.dropped_by_rule")
        host.dropped_by_bound += _whole(document, "shipper.dropped_by_bound")
        host.pending = _whole(document, "shipper.pending", host.pending)
        lag = document.get("shipper.lag.seconds", host.shipper_lag_seconds)
        host.shipper_lag_seconds = float(str(lag))


def _whole(document: Document, name: str, default: int = 0) -> int:
    return int(str(document.get(name, default)))


def _read(path: Path) -> list[Host]:
    try:
        return [Host(**host) for host in orjson.loads(path.read_bytes())]
    except (OSError, ValueError, TypeError):
        return []
