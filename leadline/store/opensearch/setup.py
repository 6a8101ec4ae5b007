"""
What `leadline setup` does on the engine: templates, lifecycle policies, no auto-created indices.

Nothing is changed before everything was looked at, what is right already is left alone, and an
index whose mapping would not fit stops it all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from leadline.errors import StoreError
from leadline.formats.templates import Body, component_templates, families, index_templates
from leadline.settings.common import RetentionSettings
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.indices import period_of
from leadline.store.opensearch.lifecycle import give_policy, policy_by_index
from leadline.store.opensearch.policies import ilm_policies, ism_policies
from leadline.store.opensearch.settings import OpenSearchSettings

Mapping = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """
    One thing that is not yet as it should be, in words, and how to make it so.
    """

    what: str
    make: Callable[[], object]


def set_up(
    client: Client,
    prefix: str,
    settings: OpenSearchSettings,
    retention: RetentionSettings,
    *,
    dry_run: bool = False,
) -> list[str]:
    """
    Bring the engine up to date; what was (or would be) changed, in words.
    """
    components, templates = wanted(client, prefix, settings)
    mappings = family_mappings(prefix, components, templates)
    changes = [*existing_indices(client, prefix, mappings)]
    changes += stored(client, "_component_template", "component_templates", components)
    changes += stored(client, "_index_template", "index_templates", templates)
    changes += policies(client, prefix, retention)
    changes += auto_create(client, prefix)
    if not dry_run:
        for change in changes:
            change.make()
    return [change.what for change in changes]


def wanted(
    client: Client, prefix: str, settings: OpenSearchSettings
) -> tuple[dict[str, Body], dict[str, Body]]:
    """
    The templates as this engine and this site want them.
    """
    components: Any = orjson.loads(orjson.dumps(component_templates(prefix)))
    templates: Any = index_templates(prefix)
    index = components[f"{prefix}-settings"]["template"]["settings"]["index"]
    index |= {
        "number_of_shards": settings.shards,
        "auto_expand_replicas": settings.replicas,
        "refresh_interval": settings.refresh,
        "codec": settings.codec,
    }
    if client.engine.elasticsearch:
        labels = components[f"{prefix}-common"]["template"]["mappings"]["properties"]
        labels["labels"] = {"type": "flattened"}
        for name, template in templates.items():
            template["template"]["settings"]["index"]["lifecycle"] = {"name": name}
    return components, templates


def family_mappings(
    prefix: str, components: dict[str, Any], templates: dict[str, Any]
) -> dict[str, dict[str, Mapping]]:
    """
    Family → dotted field → its mapping.
    """
    found: dict[str, dict[str, Mapping]] = {}
    for family in families():
        leaves: dict[str, Mapping] = {}
        for name in templates[f"{prefix}-{family}"]["composed_of"]:
            mappings = components[name]["template"].get("mappings", {})
            leaves |= dict(fields_of(mappings.get("properties", {})))
        found[family] = leaves
    return found


def fields_of(properties: Mapping, path: str = "") -> Iterator[tuple[str, Mapping]]:
    for name, body in properties.items():
        if "properties" in body:
            yield from fields_of(body["properties"], f"{path}{name}.")
        else:
            yield f"{path}{name}", body


def existing_indices(
    client: Client, prefix: str, mappings: dict[str, dict[str, Mapping]]
) -> Iterator[Change]:
    """
    Fields that indices made by an older leadline lack; StoreError where types have changed.
    """
    broken = []
    found = client.get(f"/{prefix}-*/_mapping", ignore_unavailable=True)
    for index, body in sorted(found.items()):
        period = period_of(index, prefix)
        if period is None:
            continue
        there = dict(fields_of(body["mappings"].get("properties", {})))
        desired = mappings[period.family]
        broken += [
            f"{index}: {name} is {kind(there[name])}, now {kind(field)}"
            for name, field in desired.items()
            if name in there and kind(there[name]) != kind(field)
        ]
        missing = {name: field for name, field in desired.items() if name not in there}
        if missing:
            yield Change(
                f"index {index}: {len(missing)} new fields ({', '.join(sorted(missing)[:5])} …)",
                lambda index=index, missing=missing: client.put(  # type: ignore[misc]
                    f"/{index}/_mapping", {"properties": nested(missing)}
                ),
            )
    if broken:
        raise StoreError(
            f"nothing was changed: {'; '.join(broken[:5])}"
            f"{f' and {len(broken) - 5} more' if len(broken) > 5 else ''}. Re-index these into new "
            "indices first, or let them expire: docs/opensearch.md tells how"
        )


def kind(field: Mapping) -> str:
    analyzers = {name: kind(inner) for name, inner in field.get("fields", {}).items()}
    word = str(field.get("type", "object"))
    if "analyzer" in field:
        word += f" by {field['analyzer']}"
    return word + "".join(f" + {name} {inner}" for name, inner in sorted(analyzers.items()))


def nested(fields: dict[str, Mapping]) -> Mapping:
    tree: Mapping = {}
    for name, field in fields.items():
        *parents, leaf = name.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {"properties": {}})["properties"]
        place[leaf] = field
    return tree


def stored(client: Client, api: str, key: str, bodies: dict[str, Body]) -> Iterator[Change]:
    """
    Templates that are missing or came from another version; told apart by a fingerprint.
    """
    prefix = min(bodies, key=len).split("-")[0]
    answer = client.request("GET", f"/{api}/{prefix}*")
    there = {item["name"]: item for item in answer.body.get(key, [])} if answer.ok else {}
    for name, body in bodies.items():
        mark = hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
        meta: Any = body["_meta"]
        marked = body | {"_meta": {"leadline": {**meta["leadline"], "fingerprint": mark}}}
        (inner,) = (value for field, value in there.get(name, {"": {}}).items() if field != "name")
        if inner.get("_meta", {}).get("leadline", {}).get("fingerprint") == mark:
            continue
        yield Change(
            f"{api.strip('_').replace('_', ' ')} {name}: {'replace' if inner else 'install'}",
            lambda name=name, marked=marked: client.put(f"/{api}/{name}", marked),  # type: ignore[misc]
        )


def policies(client: Client, prefix: str, retention: RetentionSettings) -> Iterator[Change]:
    if client.engine.elasticsearch:
        yield from ilm(client, ilm_policies(retention, prefix))
    elif has_ism(client):
        yield from ism(client, prefix, ism_policies(retention, prefix))


def has_ism(client: Client) -> bool:
    """
    Whether index state management answers; without it `leadline retain` does all of it.
    """
    answer = client.request("GET", "/_plugins/_ism/policies", size=1)
    return answer.ok or answer.status == 404


def ilm(client: Client, bodies: dict[str, Body]) -> Iterator[Change]:
    for name, body in bodies.items():
        answer = client.request("GET", f"/_ilm/policy/{name}")
        there = answer.body[name]["policy"] if answer.ok else {}
        phases: Any = body["policy"]
        if not covers(there.get("phases"), phases["phases"]):
            yield Change(
                f"ILM policy {name}: {'replace' if there else 'install'}",
                lambda name=name, body=body: client.put(f"/_ilm/policy/{name}", body),  # type: ignore[misc]
            )


def ism(client: Client, prefix: str, bodies: dict[str, Body]) -> Iterator[Change]:
    """
    Indices keep the policy as it was when they got it, so they are given a changed one anew.
    """
    for name, body in bodies.items():
        path = f"/_plugins/_ism/policies/{name}"
        answer = client.request("GET", path)
        if not answer.ok:
            yield Change(f"ISM policy {name}: install", partial(client.put, path, body))
        elif not covers(answer.body.get("policy"), body["policy"]):
            version = {
                "if_seq_no": answer.body["_seq_no"],
                "if_primary_term": answer.body["_primary_term"],
            }
            yield Change(
                f"ISM policy {name}: replace",
                partial(replace_policy, client, prefix, name, body, version),
            )


def replace_policy(client: Client, prefix: str, name: str, body: Body, version: Mapping) -> None:
    client.put(f"/_plugins/_ism/policies/{name}", body, **version)
    for index, policy in sorted(policy_by_index(client, prefix).items()):
        if policy == name:
            give_policy(client, index, name, managed=True)


def covers(there: object, wanted: object) -> bool:
    """
    Whether what an engine gives back holds all that we would send; engines add defaults.
    """
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(
            covers(there.get(name), value) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(there, list)
            and len(there) == len(wanted)
            and all(covers(a, b) for a, b in zip(there, wanted, strict=True))
        )
    return str(there) == str(wanted)


def auto_create(client: Client, prefix: str) -> Iterator[Change]:
    """
    Only we make our indices: one that a stray write makes would have a wrong date.
    """
    found = client.get("/_cluster/settings", flat_settings=True)
    name = "action.auto_create_index"
    current = found["persistent"].get(name) or found.get("transient", {}).get(name) or "true"
    rule = f"-{prefix}-*"
    if rule in current.split(",") or current == "false":
        return
    value = f"{rule},+*" if current == "true" else f"{rule},{current}"
    yield Change(
        f"cluster setting {name}: {value}",
        lambda: client.put("/_cluster/settings", {"persistent": {name: value}}),
    )
