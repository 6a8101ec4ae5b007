"""
What the API's answers look like, in the words of JSON Schema.
"""

from __future__ import annotations

from leadline.web.api.route import (
    COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    Schema,
    list_of,
    object_of,
)

BOOLEAN: Schema = {"type": "boolean"}
ROW: Schema = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}
TOTAL: Schema = {"type": ["number", "null", "object", "string"]}


SURE: dict[str, Schema] = {
    "coverage": MAYBE_NUMBER,
    "nodes": COUNT,
    "silent": list_of(object_of(("host", "coverage"), host=TEXT, coverage=NUMBER)),
    "newest": MAYBE_TEXT,
    "rejected": {"type": ["integer", "null"]},
    "dropped": COUNT,
    "provisional": BOOLEAN,
    "notes": list_of(TEXT),
}


def listed(row: Schema) -> Schema:
    """
    A piece of a long list; `next` is the cursor of the following one.
    """
    return object_of(("rows", "next"), rows=list_of(row), next=MAYBE_TEXT, **SURE)


USAGE = object_of(
    ("question", "from", "to", "zone", "units", "rows", "others", "total", "coverage", "next"),
    question=TEXT,
    **{"from": MAYBE_TEXT},
    to=MAYBE_TEXT,
    zone=TEXT,
    units={"type": "object", "additionalProperties": TEXT},
    rows=list_of(ROW),
    others=TOTAL,
    others_count={"type": ["integer", "null"]},
    total=TOTAL,
    shares=list_of(MAYBE_NUMBER),
    told_before=COUNT,
    next=MAYBE_TEXT,
    **SURE,
)

HIT = object_of(
    ("command_line", "core_hours", "samples", "users", "programs", "last_seen"),
    command_line=TEXT,
    matched=COUNT,
    core_hours=NUMBER,
    samples=COUNT,
    first_seen=TEXT,
    last_seen=TEXT,
    users=list_of(TEXT),
    programs=list_of(TEXT),
)
FOUND = object_of(
    ("total", "hits", "next"),
    total=COUNT,
    hits=list_of(HIT),
    facets={"type": "object"},
    next=MAYBE_TEXT,
    **SURE,
)

JOB = object_of(
    ("job", "user", "state", "end"),
    **dict.fromkeys(("job", "run", "user", "partition", "state", "end", "name"), MAYBE_TEXT),
    **dict.fromkeys(
        ("cores", "gpus", "wait", "run_time", "cpu", "memory", "gpu", "core_hours"), MAYBE_NUMBER
    ),
)

NODE = object_of(
    ("cluster", "node", "state", "availability"),
    **dict.fromkeys(("cluster", "node", "state", "partitions"), TEXT),
    **dict.fromkeys(("reason", "by", "since"), MAYBE_TEXT),
    **dict.fromkeys(("cores", "gpus", "availability"), MAYBE_NUMBER),
    **dict.fromkeys(("up_seconds", "down_seconds", "drained_seconds", "unknown_seconds"), NUMBER),
)

FINDING = object_of(
    ("kind", "cluster", "object", "evidence"),
    **dict.fromkeys(("kind", "cluster", "object", "evidence", "remedy", "severity"), TEXT),
    **dict.fromkeys(("user", "since", "until", "unit"), MAYBE_TEXT),
    hours=MAYBE_NUMBER,
)

_GRANTED = ("resource", "period", "from", "to", "charge", "verdict")
ALLOCATION = object_of(
    (*_GRANTED, "granted"),
    **dict.fromkeys(_GRANTED, TEXT),
    **dict.fromkeys(("project", "cluster", "runs_out", "note"), MAYBE_TEXT),
    **dict.fromkeys(("granted", "elapsed"), NUMBER),
    **dict.fromkeys(("used", "share", "left", "burn", "pace", "projected"), MAYBE_NUMBER),
)

_NAMED = {"name": TEXT, "title": TEXT, "meaning": TEXT}
MEASURES = object_of(("rows",), rows=list_of(object_of(tuple(_NAMED), **_NAMED, unit=TEXT)))
DIMENSIONS = object_of(("rows",), rows=list_of(object_of(tuple(_NAMED), **_NAMED)))
VALUES = object_of(("dimension", "values"), dimension=TEXT, values=list_of(TEXT))

CONSTANT = object_of(
    ("value", "unit", "means", "cluster"), value=NUMBER, unit=TEXT, means=TEXT, cluster=TEXT
)
GRANT = object_of(
    ("project", "cluster", "measure", "hours", "hours_per_day", "from", "to"),
    project=MAYBE_TEXT,
    cluster=MAYBE_TEXT,
    resource=TEXT,
    measure=TEXT,
    charge=TEXT,
    hours=NUMBER,
    hours_per_day=NUMBER,
    period=TEXT,
    **{"from": TEXT},
    to=TEXT,
    note=TEXT,
)
CLUSTER = object_of(
    ("cluster", "nodes", "cores", "gpus"),
    cluster=TEXT,
    nodes=COUNT,
    cores=NUMBER,
    memory_bytes=NUMBER,
    gpus={"type": "object", "additionalProperties": COUNT},
)
CONSTANTS = object_of(
    ("constants", "grants", "clusters", "limits"),
    constants={"type": "object", "additionalProperties": CONSTANT},
    grants=list_of(GRANT),
    clusters=list_of(CLUSTER),
    limits={"type": "object", "additionalProperties": NUMBER},
)

PROBLEM = object_of(
    ("type", "title", "status", "detail"), type=TEXT, title=TEXT, status=COUNT, detail=TEXT
)
