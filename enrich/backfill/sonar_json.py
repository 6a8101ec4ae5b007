"""
Sonar's JSON, new and old: each message as our documents.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from enrich.backfill.sonar_samples import Card, Sample, Samples, number, short, stamp
from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.hostlist import expand_hosts
from leadline.formats.times import parse_time

if TYPE_CHECKING:
    from enrich.backfill.sonar_jobs import Jobs

KIB = 1024
UNSCALED = (0, 16)  # before it cpu_util was 100 times too small
Object = dict[str, object]


def documents(message: Object, samples: Samples, jobs: Jobs) -> Iterator[Document]:
    """
    What MESSAGE says. Jobs wait in JOBS for their newest record.
    """
    if "samples" in message:
        yield from _old(message, samples)
        return
    if "errors" in message and "data" not in message:
        raise FormatError(f"Sonar's own error: {str(message['errors'])[:120]}")
    data = obj(message, "data")
    body, kind = obj(data, "attributes"), data.get("type")
    if kind == "sample":
        yield from _sample(body, _version(obj(message, "meta")), samples)
    elif kind == "sysinfo":
        yield _sysinfo(body)
    elif kind in ("job", "jobs"):
        jobs.add_message(body)
    elif kind == "cluster":
        yield from _states(body)
    elif "timestamp" in message and "hostname" in message:
        yield _sysinfo({**message, "time": message["timestamp"], "node": message["hostname"]})
    else:
        raise FormatError(f"a message of unknown type {str(kind)[:40]!r}")


def obj(parent: Object, name: str) -> Object:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def objs(parent: Object, name: str) -> list[Object]:
    value = parent.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(parent: Object, name: str) -> str:
    value = parent.get(name)
    return value if isinstance(value, str) else ""


def num(parent: Object, name: str) -> float:
    """
    Zero is left out.
    """
    return number(name, parent.get(name, 0))


def _version(meta: Object) -> tuple[int, int]:
    found = re.match(r"v?(\d+)\.(\d+)", text(meta, "version"))
    return (int(found[1]), int(found[2])) if found else (99, 0)


def _sample(body: Object, version: tuple[int, int], samples: Samples) -> Iterator[Document]:
    taken, host = parse_time(text(body, "time")).timestamp(), short(text(body, "node"))
    span = samples.span(host, taken)
    yield from _system(obj(body, "system"), taken, host, span, samples)
    for job in objs(body, "jobs"):
        for process in objs(job, "processes"):
            yield from samples.process(_process(body, job, process, version))


def _process(body: Object, job: Object, process: Object, version: tuple[int, int]) -> Sample:
    scale = 100 if version < UNSCALED else 1
    return Sample(
        time=text(body, "time"),
        host=text(body, "node"),
        user=text(job, "user"),
        command=text(process, "cmd"),
        pid=int(num(process, "pid")) or None,
        parent=int(num(process, "ppid")) or None,
        job=int(num(job, "job")),
        epoch=int(num(job, "epoch")),
        average=num(process, "cpu_avg"),
        now=num(process, "cpu_util") * scale if "cpu_util" in process else None,
        cpu_time=num(process, "cpu_time"),
        resident=int(num(process, "resident_memory") * KIB),
        virtual=int(num(process, "virtual_memory") * KIB),
        read=int(num(process, "data_read") * KIB),
        written=int(num(process, "data_written") * KIB),
        merged=int(num(process, "rolledup")),
        threads=int(num(process, "num_threads")) + 1 if "num_threads" in process else None,
        container=process.get("in_container") is True,
        per_card=tuple(
            Card(
                index=int(num(card, "index")),
                uuid=text(card, "uuid"),
                percent=num(card, "gpu_util"),
                memory=int(num(card, "gpu_memory") * KIB),
            )
            for card in objs(process, "gpus")
        ),
    )


def _system(
    system: Object, taken: float, host: str, span: float, samples: Samples
) -> Iterator[Document]:
    common = stamp(taken, host, span)
    cpus = system.get("cpus")
    busy = [number("cpus", value) for value in cpus] if isinstance(cpus, list) else []
    grown = samples.since((host, "cpus"), taken, span, tuple(busy))
    used = sum(value for value in grown if value is not None) if grown else None
    known = used is not None and all(value is not None for value in grown)
    boot = num(system, "boot")
    yield {
        "dataset": "node",
        **common,
        "core_seconds": used if known else None,
        "cpu.percent": used / span * 100 if known and used is not None and span else None,
        "uptime.seconds": taken - boot if 0 < boot <= taken else None,
        "memory.used.bytes": int(num(system, "used_memory") * KIB) or None,
        **({f"load.{n}m": num(system, f"load{n}") for n in (1, 5, 15)} if system else {}),
        "processes.runnable": int(num(system, "runnable_entities")) if system else None,
        "processes.total": int(num(system, "existing_entities")) or None,
    }
    for card in objs(system, "gpus"):
        yield {"dataset": "gpu", **common, **_card(card, host, span)}


def _card(card: Object, host: str, span: float) -> Document:
    index, busy = int(num(card, "index")), num(card, "ce_util")  # index 0 is left out
    return {
        "gpu.uuid": text(card, "uuid") or f"{host}/{index}",
        "gpu.index": index,
        "gpu.failing": True if num(card, "failing") else None,
        "gpu.fan.percent": num(card, "fan"),
        "gpu.mode": text(card, "compute_mode"),
        "gpu.percent": busy,
        "gpu_seconds": busy / 100 * span if span else None,
        "gpu.memory.bytes": int(num(card, "memory") * KIB),
        "gpu.memory.percent": num(card, "memory_util"),
        "temperature.celsius": card.get("temperature"),
        "power.watts": num(card, "power"),
        "power.limit.watts": num(card, "power_limit") or None,
        "gpu.clock.core": num(card, "ce_clock"),
        "gpu.clock.memory": num(card, "memory_clock"),
    }


def _sysinfo(body: Object) -> Document:
    taken, host = parse_time(text(body, "time")).timestamp(), short(text(body, "node"))
    cores = int(num(body, "sockets") * num(body, "cores_per_socket"))
    threads = cores * int(num(body, "threads_per_core"))
    memory = int(num(body, "memory") * KIB) or int(num(body, "mem_gb") * KIB**3)
    return {
        "dataset": "node",
        **stamp(taken, host, 0),
        "sample.uptime": 0,  # beside the sample of the same second
        "node.cores": cores or None,
        "node.threads": threads or int(num(body, "cpu_cores")) or None,
        "memory.total.bytes": memory or None,
        "host.cpu.model": text(body, "cpu_model"),
        "host.os.name": text(body, "os_name"),
        "host.os.kernel": text(body, "os_release"),
        "host.architecture": text(body, "architecture"),
    }


def _states(body: Object) -> Iterator[Document]:
    inside: dict[str, set[str]] = {}
    for partition in objs(body, "partitions"):
        for host in _hosts(partition.get("nodes")):
            inside.setdefault(host, set()).add(text(partition, "name"))
    for entry in objs(body, "nodes"):
        states = entry.get("states")
        words = [str(word) for word in states] if isinstance(states, list) else []
        name, flags = (words or ["UNKNOWN"])[0], sorted(set(words[1:]))
        digest = hashlib.blake2b("+".join([name, *flags]).encode("utf-8", "replace"), digest_size=8)
        for host in _hosts(entry.get("names")):
            yield {
                "dataset": "node_state",
                "@timestamp": text(body, "time"),
                "host.name": short(host),
                "state.name": name,
                "state.flags": flags,
                "state.hash": digest.hexdigest(),
                "snapshot": True,
                "partitions": sorted(inside.get(host, set())),
            }


def _hosts(ranges: object) -> list[str]:
    if not isinstance(ranges, list):
        return []
    return [host for item in ranges for host in expand_hosts(str(item))]


def _old(message: Object, samples: Samples) -> Iterator[Document]:
    from enrich.backfill.sonar_lines import sample_of

    for item in objs(message, "samples"):
        shared: Object = {n: message[n] for n in ("time", "host", "v") if n in message}
        both: Object = {**shared, **item}
        fields = {n: str(v) for n, v in both.items() if not isinstance(v, list)}
        yield from samples.process(sample_of(fields))
