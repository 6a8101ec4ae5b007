"""
What leadline makes of the rest and keeps for years: hourly usage and capacity.
"""

from __future__ import annotations

from leadline.formats.common import COMMON, IO, JOB_CONTEXT, PROGRAM, STRAY, USER
from leadline.formats.field import (
    Dataset,
    delta,
    gauge,
    keyword,
    number,
    plain_set,
)
from leadline.formats.jobs import RECORD_VERSION

USAGE = Dataset(
    name="usage",
    meaning="An hour of one user's command in one run on one node",
    family="usage",
    period="year",
    key=(
        *("@timestamp", "cluster", "host.name", "user.id", "user.name", "job.id", "job.run"),
        *("program.name", "program.rule", "process.name", "stray", "command.shape"),
    ),
    replaces=True,
    fields=(
        *COMMON,
        *USER,
        *PROGRAM,
        *JOB_CONTEXT,
        STRAY,
        RECORD_VERSION,
        keyword("host.name", "The node's short name, lower case"),
        keyword("process.name", "Command name"),
        delta("core_seconds", "seconds", "CPU time used"),
        delta("core_seconds_user", "seconds", "The part of it in user mode"),
        delta("core_seconds_system", "seconds", "The part of it in the kernel"),
        delta("gpu_seconds", "seconds", "GPU time by utilisation"),
        delta("gpu_held_seconds", "seconds", "Card seconds held"),
        *IO,
        delta("sample.count", "count", "Samples in the hour"),
        delta("process.count", "count", "Processes in those samples"),
        gauge("memory.rss.max", "bytes", "Greatest resident memory of one sample"),
        delta("memory.rss.sum", "bytes", "Resident memory summed over samples that have it"),
        delta("memory.rss.count", "count", "Samples that have it"),
        gauge("gpu.memory.max", "bytes", "Greatest GPU memory of one sample"),
        gauge("covered.seconds", "seconds", "Seconds of the hour with samples"),
        plain_set("memory.classes", "Samples by class of memory, 32 to a doubling: 864:12"),
    ),
)

CAPACITY = Dataset(
    name="capacity",
    meaning="An hour of one node, or of its cards of one model",
    family="capacity",
    period="year",
    key=("@timestamp", "cluster", "host.name", "gpu.model"),
    replaces=True,
    fields=(
        *COMMON,
        RECORD_VERSION,
        keyword("host.name", "The node's short name, lower case"),
        keyword("node.type", "Kind of node"),
        plain_set("partitions", "Partitions the node is in"),
        keyword("gpu.model", "Card model; absent for the node itself"),
        delta("seconds.up", "seconds", "Up and usable"),
        delta("seconds.down", "seconds", "Down"),
        delta("seconds.drained", "seconds", "Drained: up, not to be used"),
        delta("seconds.unknown", "seconds", "Nobody looked"),
        delta("covered.seconds", "seconds", "Seconds of the hour with samples"),
        number("node.cores", "Cores"),
        number("gpu.total", "Cards of the model"),
        gauge("memory.total.bytes", "bytes", "Memory"),
        delta("core_seconds_capacity", "seconds", "Cores times seconds up"),
        delta("gpu_seconds_capacity", "seconds", "Cards times seconds up"),
        delta("core_seconds_watched", "seconds", "Cores times seconds with samples of their use"),
        delta("gpu_seconds_watched", "seconds", "Cards times seconds with samples of their use"),
        delta("core_seconds_lost", "seconds", "Cores times seconds down or drained, not sampled"),
        delta("gpu_seconds_lost", "seconds", "Cards times seconds down or drained, not sampled"),
        delta("core_seconds", "seconds", "Busy core seconds of the whole node"),
        delta("gpu_seconds", "seconds", "Busy GPU seconds"),
        delta("memory.byte_seconds", "byte-seconds", "Memory used times seconds with samples"),
        delta("memory.byte_seconds_watched", "byte-seconds", "Memory times seconds with samples"),
        delta("energy.joules", "J", "Energy"),
    ),
)

SUMMARIES = (USAGE, CAPACITY)
