"""
Component and index templates for OpenSearch and Elasticsearch, made from the fields' definitions.

Lean on purpose: numbers are read by column and not indexed, unknown names live in one field, and
documents lie sorted, so that a sample takes half the bytes of a default mapping (bench/index.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

from leadline.formats import DATASETS, SCHEMA_VERSION, Dataset, Field, Type
from leadline.formats.common import COMMON
from leadline.formats.samples import SAMPLES

Body = dict[str, object]

PREFIX = "leadline"
PRIORITY = 500

# Words as leadline.store.words cuts them; a test compares the two.
SEPARATORS = "/=,;:\"'()[]{}<>|&@$%!?*\\`"
STRIPPED = "-+."
LONGEST_WORD = 8191

ANALYSIS: Body = {
    "tokenizer": {
        "cmdline": {
            "type": "char_group",
            "tokenize_on_chars": ["whitespace", *SEPARATORS],
            "max_token_length": LONGEST_WORD,
        },
        "path": {"type": "path_hierarchy"},
    },
    "filter": {
        "cmdline_strip": {
            "type": "pattern_replace",
            "pattern": f"^[{re.escape(STRIPPED)}]+",
            "replacement": "",
        },
        "cmdline_some": {"type": "length", "min": 1},  # what is left out keeps its place
        "cmdline_parts": {
            "type": "pattern_capture",
            "preserve_original": True,
            "patterns": ["([\\p{L}\\p{N}]+)"],
        },
        "cmdline_once": {"type": "unique", "only_on_same_position": True},
    },
    "analyzer": {
        "cmdline": {
            "type": "custom",
            "tokenizer": "cmdline",
            "filter": [
                "cmdline_strip",
                "cmdline_some",
                "cmdline_parts",
                "lowercase",
                "cmdline_once",
            ],
        },
        "cmdline_search": {
            "type": "custom",
            "tokenizer": "cmdline",
            "filter": ["cmdline_strip", "cmdline_some", "lowercase"],
        },
        "path_tree": {"type": "custom", "tokenizer": "path"},
    },
}

SETTINGS: Body = {
    "number_of_shards": 1,
    "auto_expand_replicas": "0-1",
    "codec": "best_compression",
    "refresh_interval": "30s",
}

META: Body = {
    "leadline": {"schema": SCHEMA_VERSION, "from": "leadline.formats, by leadline.formats.generate"}
}

INDEXED_DATES = {"@timestamp", "event.start", "job.start", "job.end"}


def field_mapping(field: Field, *, measured: bool = False) -> Body:
    """
    `measured`: from a shipper, which rounds to hundredths; by column that takes a third.
    """
    match field.type:
        case Type.DOUBLE if measured:
            return {"type": "scaled_float", "scaling_factor": 1000, "index": False}
        case Type.COMMAND:
            words = {"type": "text", "analyzer": "cmdline", "norms": False}
            words |= {"search_analyzer": "cmdline_search"}
            return {"type": "keyword", "ignore_above": 8191, "fields": {"text": words}}
        case Type.PATH:
            tree = {"type": "text", "analyzer": "path_tree", "norms": False}
            tree |= {"search_analyzer": "keyword", "index_options": "docs"}
            return {"type": "keyword", "ignore_above": 8191, "fields": {"tree": tree}}
        case Type.KEYWORD | Type.SET:
            return {"type": "keyword", "ignore_above": 8191}
        case Type.LONG | Type.DOUBLE:
            return {"type": str(field.type), "index": False}
        case Type.BOOLEAN:
            return {"type": "boolean", "index": False}
        case Type.DATE if field.name in INDEXED_DATES:
            return {"type": "date"}
        case Type.DATE:
            return {"type": "date", "index": False}
        case Type.DAY:
            return {"type": "date", "format": "strict_date"}
        case Type.FLAT if field.name == "labels":
            return {"type": "flat_object"}
        case Type.FLAT:
            return {"type": "object", "enabled": False}
    raise AssertionError(f"{field.name} has a type without a mapping: {field.type}")


def properties(fields: Iterable[Field], *, measured: bool = False) -> Body:
    """
    The mapping of dotted names, nested as both engines write it back.
    """
    tree: Body = {}
    for field in fields:
        place = tree
        *parents, leaf = field.name.split(".")
        for parent in parents:
            inner = place.setdefault(parent, {"properties": {}})
            assert isinstance(inner, dict)
            place = inner["properties"]
        place[leaf] = field_mapping(field, measured=measured)
    return tree


def families() -> dict[str, list[Dataset]]:
    found: dict[str, list[Dataset]] = {}
    for dataset in DATASETS.values():
        found.setdefault(dataset.family, []).append(dataset)
    return found


def component_templates(prefix: str = PREFIX) -> dict[str, Body]:
    common = {field.name for field in COMMON}
    shared: Body = {"dynamic": False, "properties": properties(COMMON)}
    parts: dict[str, Body] = {
        f"{prefix}-settings": {"settings": {"index": SETTINGS}},
        f"{prefix}-common": {"mappings": shared},
    }
    for dataset in DATASETS.values():
        own = [field for field in dataset.fields if field.name not in common]
        measured = dataset in SAMPLES
        part: Body = {"mappings": {"properties": properties(own, measured=measured)}}
        if any(field.type in (Type.COMMAND, Type.PATH) for field in own):
            part["settings"] = {"index": {"analysis": ANALYSIS}}  # each template is checked alone
        parts[f"{prefix}-{dataset.name}"] = part
    return {name: {"template": part, "_meta": META} for name, part in parts.items()}


def index_templates(prefix: str = PREFIX) -> dict[str, Body]:
    """
    One per family, as several datasets may share an index.
    """
    made: dict[str, Body] = {}
    for family, datasets in families().items():
        sort = {"field": list(datasets[0].sort)}
        made[f"{prefix}-{family}"] = {
            "index_patterns": [f"{prefix}-{family}-*"],
            "priority": PRIORITY,
            "composed_of": [
                f"{prefix}-settings",
                f"{prefix}-common",
                *(f"{prefix}-{dataset.name}" for dataset in datasets),
            ],
            "template": {"settings": {"index": {"sort": sort}}},
            "_meta": META,
        }
    return made


def pretty(body: Body) -> str:
    return orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def template_files() -> dict[str, str]:
    """
    What `python -m leadline.formats.generate` writes below index_templates/.
    """
    files = {}
    for kind, bodies in (("component", component_templates()), ("index", index_templates())):
        for name, body in bodies.items():
            files[f"index_templates/{kind}-{name.removeprefix(PREFIX + '-')}.json"] = pretty(body)
    return files
