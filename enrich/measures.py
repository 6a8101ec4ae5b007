"""
What was measured, as it stands in a shipper's line: judged without being read.

One pattern for the members in the shipper's order, each at most once, with values the gate would
leave as they are: whole numbers and decimals without a sign, true, false, and a state's letter.
"""

from __future__ import annotations

import re

from leadline.formats import DATASETS, Type

THREADS = ("process.thread.count",)
# Seconds come later where a process was running before the shipper was.
SECONDS = ("core_seconds", "core_seconds_user", "core_seconds_system", "cpu.percent")
MEMORY = ("memory.rss.bytes", "memory.virtual.bytes", "memory.pss.bytes")
CARDS = ("gpu.count", "gpu.memory.bytes", "gpu_seconds", "gpu_held_seconds")
REST = ("io.read.bytes", "io.write.bytes", "stray", *CARDS, "process.count", "rolled_up")
NAMES = frozenset({"process.state", *THREADS, *SECONDS, *MEMORY, *REST})

BEGIN = b',"process.state":"'
WHOLE = rb"(?:[1-9][0-9]{0,14}+|0)"  # seventeen of them stay far below the largest number
VALUES = {
    Type.LONG: WHOLE,
    Type.DOUBLE: WHOLE + rb"(?:\.[0-9]{1,9}+)?+",
    Type.BOOLEAN: rb"(?:true|false)",
}


def _members(names: tuple[str, ...]) -> bytes:
    fields = DATASETS["process"].by_name
    return b"".join(
        rb'(?:,"%b":%b)?+' % (re.escape(name.encode()), VALUES[fields[name].type]) for name in names
    )


_SECONDS = rb'(?:,"core_seconds":%b)' % VALUES[Type.DOUBLE] + _members(SECONDS[1:])

PATTERN = re.compile(
    re.escape(BEGIN)
    + rb'[A-Za-z]"'  # one letter: nothing to redact
    + _members(THREADS)
    + b"(?P<early>%b)?+" % _SECONDS
    + _members(MEMORY)
    + b"(?(early)|(?:%b)?+)" % _SECONDS
    + _members(REST)
)
