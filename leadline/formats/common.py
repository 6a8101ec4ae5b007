"""
Fields that several datasets share.
"""

from __future__ import annotations

from leadline.formats.field import (
    Field,
    Kind,
    Type,
    delta,
    flag,
    gauge,
    instant,
    keyword,
    number,
    plain_set,
)

COMMON: tuple[Field, ...] = (
    instant("@timestamp", "When: the middle of the interval for documents that carry deltas"),
    keyword("dataset", "Which dataset the document belongs to"),
    keyword("cluster", "The cluster's canonical name"),
    number("schema.version", "Version of this list of fields the sender wrote"),
    keyword("rules.version", "Version of the program rules that named it"),
    instant("event.ingested", "When the worker took it"),
    keyword("agent.version", "Version of the shipper or reader that made it"),
    number("local.hour", "Hour of the day, 0–23, in the cluster's zone"),
    number("local.weekday", "Day of the week, 1 = Monday, in the cluster's zone"),
    Field("local.day", Type.DAY, "", Kind.ATTRIBUTE, "Calendar day in the cluster's zone"),
    Field("labels", Type.FLAT, "", Kind.ATTRIBUTE, "Fields this version does not know, as sent"),
)

SAMPLE: tuple[Field, ...] = (
    keyword("host.name", "The node's short name, lower case"),
    keyword("boot.id", "The kernel's boot id: counters start anew with it"),
    number("sample.uptime", "Whole seconds since boot when the snapshot was taken"),
    instant("sample.time", "When the snapshot was taken"),
    gauge("interval.seconds", "seconds", "The span this document speaks for"),
    gauge(
        "clock.corrected.seconds",
        "seconds",
        "The node's clock was so far ahead, and the times of the document were put right",
        signed=True,
    ),
)

USER: tuple[Field, ...] = (
    keyword("user.name", "Login name, or `_user_<uid>` when the directory does not know it"),
    keyword("user.id", "Numeric user id, as text"),
    keyword("user.group", "The user's group at that time"),
    plain_set("user.metagroup", "Groups of groups the user belonged to at that time"),
)

PROGRAM: tuple[Field, ...] = (
    keyword("program.name", "The program behind the command; absent when no rule names it"),
    keyword("program.version", "Its version, where the command tells"),
    keyword("program.level1", "First level of the program hierarchy: chemistry"),
    keyword("program.level2", "Second level, with the first: chemistry/quantum"),
    keyword("program.level3", "Third level, with the others: chemistry/quantum/gaussian"),
    plain_set("program.tags", "Tags of the program: gpu, licensed, mpi …"),
    keyword("program.rule", "The rule that named it: file and line"),
    keyword("command.shape", "The command with numbers and paths' variable parts taken out"),
)

JOB_CONTEXT: tuple[Field, ...] = (
    keyword("job.id", "Cluster-qualified job id"),
    keyword("job.local_id", "The id as the scheduler on the node wrote it"),
    keyword("job.run", "One run of the job: id and submit time"),
    keyword("job.step", "Step of the job"),
    keyword("project", "Project or account the job is charged to"),
    keyword("partition", "Partition or queue"),
)

PROCESS_KEY: tuple[Field, ...] = (
    number("process.pid", "Process id; absent for a roll-up"),
    keyword("process.entity_id", "pid and start ticks, or what a roll-up merges on"),
    keyword("process.name", "Command name, as the kernel keeps it (15 bytes on Linux)"),
)

IO: tuple[Field, ...] = (
    delta("io.read.bytes", "bytes", "Bytes read from storage"),
    delta("io.write.bytes", "bytes", "Bytes written to storage"),
)

STRAY = flag("stray", "A user's process outside any of that user's jobs on this node")
