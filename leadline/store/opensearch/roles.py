"""
Roles for OpenSearch's security plug-in: a user sees her own documents, a leader her group's with
command lines masked, and what nodes do as wholes is everybody's, as on the pages.

Every role that reads has a rule of documents, those that see all as well: the plug-in lets a role
without one add nothing to a role that has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from leadline.errors import SettingsError, StoreError
from leadline.formats.templates import families
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.setup import Change, covers

API = "/_plugins/_security/api"
Body = dict[str, Any]

# Of whole nodes and cards: documents in them that name nobody are everybody's.
SHARED = ("node", "gpu", "capacity", "state")
# What people typed. Masked fields cannot be searched either, so their analysed twins stay out.
MASKED = (
    "process.command_line",
    "process.executable",
    "command.shape",
    "job.command_line",
    "job.comment",
    "job.work_dir",
    "message",
)
TWINS = ("process.command_line.text", "process.executable.tree", "message.text")
READ = ["read", "indices:admin/mappings/get", "indices:monitor/stats", "indices:admin/refresh"]
CLUSTER_READ = ["cluster_composite_ops_ro", "cluster:monitor/main", "cluster:monitor/health"]
SERVICE = [
    "cluster_monitor",
    "cluster_composite_ops",
    "cluster_manage_index_templates",
    "cluster:admin/settings/update",
    "cluster:admin/component_template/*",
    "cluster:admin/opendistro/ism/*",
]
NOBODYS: Body = {"bool": {"must_not": {"exists": {"field": "user.name"}}}}
ALL: Body = {"match_all": {}}


@dataclass(frozen=True, slots=True)
class Access:
    """
    Who is what, as the pages' settings say; `service` is the account leadline itself uses.
    """

    admins: tuple[str, ...] = ()
    leaders: tuple[str, ...] = ()  # alice:chem-1
    service: str = ""


def set_up_roles(client: Client, prefix: str, access: Access, *, dry_run: bool) -> list[str]:
    """
    Roles and who has them; what was (or would be) changed, in words.
    """
    there = _there(client, "roles")
    mapped = _there(client, "rolesmapping")
    changes = [*_roles(client, roles(prefix, access), there, f"{prefix}_leader_")]
    changes += _mappings(client, prefix, access, mapped)
    if not dry_run:
        for change in changes:
            change.make()
    return [change.what for change in changes]


def roles(prefix: str, access: Access) -> dict[str, Body]:
    """
    Every role by name, as the plug-in takes it.
    """
    own: Body = {"term": {"user.name": "${user.name}"}}
    found = {
        f"{prefix}_user": _reader(prefix, own, "Sees her own documents, and nodes as wholes"),
        f"{prefix}_support": _reader(prefix, ALL, "Sees all, command lines masked", masked=True),
        f"{prefix}_admin": _reader(prefix, ALL, "Sees all"),
        f"{prefix}_service": {
            "description": "What leadline's worker, chores and setup need",
            "cluster_permissions": SERVICE,
            "index_permissions": [
                {"index_patterns": [f"{prefix}-*"], "allowed_actions": ["indices_all"]}
            ],
        },
    }
    for group in leaders_of(access.leaders):
        rule: Body = {"term": {"user.group": group}}
        said = f"Sees the group {group}, command lines masked"
        found[leader(prefix, group)] = _reader(prefix, rule, said, masked=True)
    return found


def leaders_of(pairs: Sequence[str]) -> dict[str, list[str]]:
    """
    Group → who leads it.
    """
    found: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, group = pair.partition(":")
        if not re.fullmatch(r"[\w.@+-]+", group):
            raise SettingsError(f"web.leaders: {pair!r}: a role cannot be named by this group")
        found.setdefault(group, []).append(name)
    return found


def leader(prefix: str, group: str) -> str:
    return f"{prefix}_leader_{group}"


def _reader(prefix: str, rule: Body, said: str, *, masked: bool = False) -> Body:
    shared: Body = ALL if rule is ALL else {"bool": {"should": [rule, NOBODYS]}}
    personal = [family for family in families() if family not in SHARED]
    return {
        "description": said,
        "cluster_permissions": CLUSTER_READ,
        "index_permissions": [
            _part(prefix, personal, rule, masked=masked),
            _part(prefix, SHARED, shared, masked=masked),
        ],
    }


def _part(prefix: str, names: Sequence[str], rule: Body, *, masked: bool) -> Body:
    return {
        "index_patterns": [f"{prefix}-{family}-*" for family in names],
        "dls": orjson.dumps(rule).decode(),
        "fls": [f"~{name}" for name in TWINS] if masked else [],
        "masked_fields": list(MASKED) if masked else [],
        "allowed_actions": READ,
    }


def _there(client: Client, what: str) -> dict[str, Any]:
    if client.engine.elasticsearch:
        raise StoreError(
            f"{client.engine}: roles are made for OpenSearch's security plug-in; "
            "on Elasticsearch make them by hand, as docs/opensearch.md says"
        )
    answer = client.request("GET", f"{API}/{what}")
    if answer.status in (400, 404, 405):
        raise StoreError(
            f"{', '.join(client.hosts)}: no security plug-in answers; "
            "without it everybody who reaches the engine sees all"
        )
    if answer.status in (401, 403):
        raise StoreError(
            f"{', '.join(client.hosts)}: this account may not manage roles; "
            "run it as one of plugins.security.restapi.roles_enabled (all_access)"
        )
    found: dict[str, Any] = client.get(f"{API}/{what}")
    return found


def _roles(
    client: Client, wanted: dict[str, Body], there: dict[str, Any], ours: str
) -> Iterator[Change]:
    for name, body in wanted.items():
        if not covers(there.get(name), body):
            yield Change(
                f"role {name}: {'replace' if name in there else 'install'}",
                lambda name=name, body=body: client.put(f"{API}/roles/{name}", body),  # type: ignore[misc]
            )
    for name in there:
        if name.startswith(ours) and name not in wanted:
            yield Change(f"role {name}: remove, nobody leads that group", _remove(client, name))


def _remove(client: Client, name: str) -> Any:
    def remove() -> None:
        client.request("DELETE", f"{API}/rolesmapping/{name}")
        client.demand("DELETE", f"{API}/roles/{name}")

    return remove


def _mappings(
    client: Client, prefix: str, access: Access, there: dict[str, Any]
) -> Iterator[Change]:
    """
    Users as the settings name them; backend roles and hosts as the site has them.
    """
    users: dict[str, list[str]] = {f"{prefix}_admin": sorted(access.admins)}
    for group, names in leaders_of(access.leaders).items():
        users[leader(prefix, group)] = sorted(set(names))
    if access.service:
        service = f"{prefix}_service"
        known = set(there.get(service, {}).get("users", []))
        users[service] = sorted(known | {access.service})
    for name, wanted in users.items():
        before = there.get(name, {})
        if sorted(before.get("users", [])) != wanted:
            told = f"role {name}: for {', '.join(wanted) or 'nobody'}"
            yield Change(told, _map(client, name, before, {"users": wanted}))
    name = f"{prefix}_user"
    if name not in there:
        backend = {"backend_roles": [name]}
        yield Change(f"role {name}: for backend role {name}", _map(client, name, {}, backend))


def _map(client: Client, name: str, before: dict[str, Any], change: Body) -> Any:
    kept = {field: before.get(field, []) for field in ("users", "backend_roles", "hosts")}
    return lambda: client.put(f"{API}/rolesmapping/{name}", {**kept, **change})
