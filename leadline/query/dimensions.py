"""
What answers can be told apart by: each dimension's name, field and words, in one table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as default
from difflib import get_close_matches
from typing import Literal

from leadline.errors import QuestionError
from leadline.formats import DATASETS, Field, Type
from leadline.query.question import BUCKETS
from leadline.store.clocks import BETWEEN, shown
from leadline.store.plan import Bucket, Group, Scalar

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """
    One way to break an answer down. `fields` names datasets that keep it under another name.
    """

    name: str
    title: str
    field: str
    sentence: str
    fields: Mapping[str, str] = default(default_factory=dict)
    none: str = "(none)"  # what the row without a value is called
    size: Literal["few", "some", "many"] = "few"  # how many values a site has: 100, 10,000, more
    edges: tuple[float, ...] = ()  # half-open classes of a number
    classes: tuple[str, ...] = ()  # what the classes are called, the one below the first edge first
    clock: bool = False  # goes by the local time of @timestamp, or of another instant: see `at`
    of_node: bool = False  # documents that name their node are told apart by what it is
    of_run: bool = False  # and those that name their run by what accounts say of it

    @property
    def ordered(self) -> bool:
        """
        Whether its values have an order of their own: hours, weekdays, classes of a number.
        """
        return self.clock or bool(self.edges)

    def field_in(self, dataset: str) -> str | None:
        """
        The field that holds it in DATASET; None when that dataset does not know it.
        """
        name = self.fields.get(dataset, self.field)
        return name if name.rpartition(BETWEEN)[2] in DATASETS[dataset].by_name else None

    def at(self, time: str) -> Dimension:
        """
        The same where documents go by TIME: clocks are read at that moment.
        """
        if not self.clock or time == "@timestamp":
            return self
        return replace(self, field=shown(self.name.partition("_")[0], time), fields={})

    def by_node_in(self, dataset: str) -> bool:
        """
        Whether DATASET only knows it through the node.
        """
        return self.of_node and self.field_in(dataset) is None and node_field(dataset) is not None

    def by_run_in(self, dataset: str) -> bool:
        """
        Whether DATASET only knows it through the run.
        """
        known = "job.run" in DATASETS[dataset].by_name
        return self.of_run and known and self.field_in(dataset) is None

    def multiple_in(self, dataset: str) -> bool:
        """
        Whether one document may have several values, so that rows count it more than once.
        """
        name = node_field(dataset) if self.by_node_in(dataset) else self.field_in(dataset)
        return _type(dataset, name) is Type.SET

    def parts_in(self, dataset: str) -> bool:
        """
        Whether a document is taken apart, with a share of its sums in each row.
        """
        return _type(dataset, self.field_in(dataset)) is Type.FLAT

    def group_in(self, dataset: str) -> Group:
        name = self.field_in(dataset)
        assert name is not None
        if self.parts_in(dataset):
            return Group(name, Bucket.CLOCK)
        return Group(name, edges=self.edges)

    def label(self, value: Scalar | None) -> str:
        """
        The value as people read it.
        """
        if self.edges:
            lower = [None, *self.edges].index(None if value is None else float(value))
            return self.classes[lower]
        if value is None:
            return self.none
        if self.name == "weekday" and value in range(1, 8):
            return WEEKDAYS[int(value) - 1]
        if self.name == "hour_of_day":
            return f"{int(value):02d}–{int(value) + 1:02d}"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)


def _type(dataset: str, name: str | None) -> Type | None:
    field: Field | None = DATASETS[dataset].by_name.get(name or "")
    return None if field is None else field.type


def node_field(dataset: str) -> str | None:
    """
    The field of DATASET that names a document's node, or its nodes.
    """
    known = DATASETS[dataset].by_name
    return next((name for name in ("host.name", "job.nodes") if name in known), None)


DIMENSIONS: tuple[Dimension, ...] = (
    Dimension(name="cluster", title="Cluster", field="cluster", sentence="The cluster."),
    Dimension(
        name="host",
        title="Node",
        field="host.name",
        fields={"job": "job.nodes"},
        size="some",
        sentence="The node; a job that ran on several counts on each.",
    ),
    Dimension(
        name="user",
        title="User",
        field="user.name",
        size="some",
        of_run=True,
        sentence="Who ran it.",
    ),
    Dimension(
        name="group",
        title="Group",
        field="user.group",
        of_run=True,
        sentence="The user's group at that time.",
    ),
    Dimension(
        name="metagroup",
        title="Metagroup",
        field="user.metagroup",
        sentence="A group of groups at that time; a user may be in several.",
    ),
    Dimension(
        name="project",
        title="Project",
        field="project",
        size="some",
        sentence="The project or account charged.",
    ),
    Dimension(
        name="partition",
        title="Partition",
        field="partition",
        fields={"node_state": "partitions", "capacity": "partitions"},
        sentence="The partition or queue; a node in several counts in each.",
    ),
    Dimension(
        name="program",
        title="Program",
        field="program.name",
        none="unmatched",
        sentence="The program behind the command; `unmatched` when no rule names it.",
    ),
    *(
        Dimension(
            name=f"level{level}",
            title=f"Program level {level}",
            field=f"program.level{level}",
            none="unmatched",
            sentence=f"Level {level} of the program hierarchy, with the levels above it.",
        )
        for level in (1, 2, 3)
    ),
    Dimension(
        name="tag",
        title="Tag",
        field="program.tags",
        sentence="A tag of the program; a program may have several.",
    ),
    Dimension(
        name="job",
        title="Job",
        field="job.id",
        size="many",
        none="(no job)",
        sentence="The job: all its runs together.",
    ),
    Dimension(
        name="run",
        title="Run",
        field="job.run",
        size="many",
        none="(no job)",
        sentence="One run of a job.",
    ),
    Dimension(
        name="shape",
        title="Command shape",
        field="command.shape",
        size="many",
        sentence="The command line with numbers and variable paths taken out.",
    ),
    Dimension(
        name="command",
        title="Command",
        field="process.name",
        size="some",
        sentence="The command's name as the kernel keeps it (15 bytes on Linux).",
    ),
    Dimension(
        name="hour_of_day",
        title="Hour of day",
        field="local.hour",
        fields={"job_slice": "hours"},
        clock=True,
        sentence="0 to 23, in the cluster's zone.",
    ),
    Dimension(
        name="weekday",
        title="Day of week",
        field="local.weekday",
        clock=True,
        sentence="1 (Monday) to 7, in the cluster's zone.",
    ),
    Dimension(name="stray", title="Stray", field="stray", sentence="Outside any job of its user."),
    Dimension(
        name="container", title="Container", field="container", sentence="The container engine."
    ),
    Dimension(
        name="memory_class",
        title="Memory of a sample",
        field="memory.rss.bytes",
        edges=(0, *(2.0**power for power in range(24, 41, 2))),
        classes=(
            "unknown",
            "< 16 MiB",
            "16–64 MiB",
            "64–256 MiB",
            "256 MiB–1 GiB",
            "1–4 GiB",
            "4–16 GiB",
            "16–64 GiB",
            "64–256 GiB",
            "256 GiB–1 TiB",
            "over 1 TiB",
        ),
        sentence="Resident memory of a process at a snapshot, in classes: `samples by memory_class`"
        " is how a program's memory is distributed.",
    ),
    Dimension(
        name="gpu_model",
        title="GPU model",
        field="gpu.model",
        fields={"job": "gpu.models", "job_slice": "gpu.models"},
        sentence="The card's model; a job may have several.",
    ),
    Dimension(
        name="node_type",
        title="Node type",
        field="node.type",
        of_node=True,
        sentence="The kind of node, as the settings or the scheduler name it now; a run on nodes of"
        " several kinds counts in each.",
    ),
    Dimension(
        name="state",
        title="End state",
        field="job.state",
        of_run=True,
        sentence="The job's state as the scheduler writes it.",
    ),
    Dimension(name="qos", title="QOS", field="qos", of_run=True, sentence="Quality of service."),
    Dimension(
        name="class",
        title="Job class",
        field="job.class",
        of_run=True,
        sentence="serial, one-node or multi-node.",
    ),
    Dimension(
        name="size",
        title="Job size",
        field="job.cores",
        of_run=True,
        edges=(1, 2, 5, 17, 65, 129, 513, 1025),
        classes=(
            "unknown",
            "1 core",
            "2–4",
            "5–16",
            "17–64",
            "65–128",
            "129–512",
            "513–1,024",
            "over 1,024",
        ),
        sentence="Cores allocated, in classes.",
    ),
    Dimension(
        name="wait_class",
        title="Wait",
        field="job.wait.seconds",
        of_run=True,
        edges=(0, 60, 600, 3600, 21600, 86400),
        classes=("unknown", "< 1 min", "1–10 min", "10–60 min", "1–6 h", "6–24 h", "over a day"),
        sentence="Start less submit, in classes.",
    ),
    Dimension(
        name="run_time_class",
        title="Run time",
        field="job.wall.seconds",
        of_run=True,
        edges=(0, 60, 600, 3600, 21600, 86400, 604800),
        classes=(
            "unknown",
            "< 1 min",
            "1–10 min",
            "10–60 min",
            "1–6 h",
            "6–24 h",
            "1–7 d",
            "over a week",
        ),
        sentence="Wall time of the run, in classes.",
    ),
)

BY_NAME = {dimension.name: dimension for dimension in DIMENSIONS}
ALIASES = {
    "node": "host",
    "account": "project",
    "queue": "partition",
    "tags": "tag",
    "users": "user",
    "hour": "hour_of_day",
}


def dimension(name: str) -> Dimension:
    found = BY_NAME.get(name) or BY_NAME.get(ALIASES.get(name, ""))
    if found is None:
        near = get_close_matches(name, [*BY_NAME, *BUCKETS], 1)
        hint = f"do you mean {near[0]}?" if near else "none is like it."
        raise QuestionError(f"no dimension {name!r}: {hint} There are {', '.join(BY_NAME)}")
    return found


def time_group(bucket: str, time: str = "@timestamp") -> Group:
    if bucket == "hour":
        return Group(time, Bucket.HOUR)
    return (
        Group("local.day", Bucket(bucket)) if time == "@timestamp" else Group(shown(bucket, time))
    )
