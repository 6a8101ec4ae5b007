"""
One look at everything: what the API says now, put together for the screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leadline.top.client import Api, LostError

Rows = Sequence[Mapping[str, Any]]
FINDINGS_EVERY = 60.0  # seconds: they look back over a day


@dataclass(frozen=True, slots=True)
class Look:
    moment: datetime
    running: Rows = ()
    nodes: Rows = ()
    gpus: Rows = ()
    findings: Rows = ()
    slow: datetime | None = None  # when findings and states were asked
    trouble: str = ""  # what of it could not be had

    @property
    def lists(self) -> tuple[Rows, ...]:
        """
        As the views stand on the screen.
        """
        return self.running, self.nodes, self.gpus, self.findings

    def sentence(self, width: int) -> str:
        """
        The answer first, in one line: how busy it all is.
        """
        heard = [node for node in self.nodes if not node.get("silent")]
        silent = len(self.nodes) - len(heard)
        busy = sum(node.get("cores_busy") or 0.0 for node in heard)
        cores = sum(node.get("cores") or 0 for node in heard)
        users = len({row.get("user") for row in self.running} - {None})
        parts = [f"{busy:,.0f} of {cores:,.0f} cores"]
        parts += [_count(len(heard), "node"), _count(users, "user")]
        if self.gpus:
            share = sum(card.get("busy_percent") or 0.0 for card in self.gpus) / 100
            parts.insert(1, f"{share:,.1f} of {len(self.gpus)} GPUs")
        if silent:
            parts.append(f"{silent} silent")
        if failing := sum(bool(card.get("failing")) for card in self.gpus):
            parts.append(f"{_count(failing, 'GPU')} failing")
        while len(" · ".join(parts)) > width and len(parts) > 1:
            parts.pop()
        return " · ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def look(api: Api, before: Look | None, cluster: str | None) -> Look:
    """
    Everything as of now; findings and the scheduler's states only once a minute.
    """
    moment = datetime.now(UTC)
    found = api.get("now", **({"cluster": cluster} if cluster else {}))
    old = before.slow if before is not None else None
    if before is not None and old and (moment - old).total_seconds() < FINDINGS_EVERY:
        findings, states, slow = before.findings, _known_states(before.nodes), old
        trouble = before.trouble
    else:
        slow = moment
        findings, trouble = _rows(api, "findings", "500")
        nodes, trouble_too = _rows(api, "nodes", "1000")
        states, trouble = _states(nodes), trouble or trouble_too
    told = [_with_state(node, states) for node in found["nodes"]]
    findings = [row for row in findings if cluster is None or row.get("cluster") == cluster]
    return Look(moment, found["processes"], told, found["gpus"], findings, slow, trouble)


def _rows(api: Api, path: str, limit: str) -> tuple[Rows, str]:
    """
    A list that the screen can do without, or why it is missing.
    """
    try:
        rows: Rows = api.get(path, limit=limit)["rows"]
    except LostError as error:
        return (), f"{path}: {error}"
    return rows, ""


def _states(nodes: Rows) -> dict[tuple[str, str], str]:
    """
    What the scheduler says of its nodes; nothing where there is none.
    """
    return {
        (str(row["cluster"]), str(row["node"])): " ".join(
            str(row[name]) for name in ("state", "reason") if row.get(name)
        )
        for row in nodes
    }


def _known_states(nodes: Rows) -> dict[tuple[str, str], str]:
    return {
        (str(node["cluster"]), str(node["host"])): str(node["scheduler"])
        for node in nodes
        if node.get("scheduler")
    }


def _with_state(node: Mapping[str, Any], states: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    told = states.get((str(node["cluster"]), str(node["host"])), "")
    heard = f"silent since {str(node['seen'])[11:16]}" if node.get("silent") else ""
    return {**node, "scheduler": told, "state": ", ".join(part for part in (heard, told) if part)}
