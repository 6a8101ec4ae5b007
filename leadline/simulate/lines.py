"""
Documents as bytes: what stays the same over a process's life is written once, as a template.
"""

from __future__ import annotations

import orjson

from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.times import from_epoch
from leadline.simulate.activity import Activity
from leadline.simulate.fleet import Host


def _constant(document: Document) -> bytes:
    """
    The inside of a JSON object, made safe to be a % template.
    """
    return orjson.dumps(document)[1:-1].replace(b"%", b"%%")


def heads(host: Host, cluster: str, every: int) -> bytes:
    """
    What every document of a host begins with: % (middle, taken, uptime) is still open.
    """
    known: Document = {
        "cluster": cluster,
        "host.name": host.name,
        "boot.id": host.boot,
        "interval.seconds": every,
        "agent.version": "simulated",
        "schema.version": SCHEMA_VERSION,
    }
    times = b'{"@timestamp":"%b","sample.time":"%b","sample.uptime":%d,'
    return times + _constant(known) + b',"dataset":"'


def entity(activity: Activity) -> str:
    if activity.ranks > 1:
        return f"roll-{activity.pid:x}"
    return f"{activity.pid}-{int((activity.start - activity.host.booted) * 100)}"


def process_line(activity: Activity, executable: str, command_line: str) -> bytes:
    """
    % (centiseconds…): seconds, user, system, percent, resident, read, write; zombies have none.
    """
    recipe, job = activity.recipe, activity.job
    known: Document = {
        "user.name": activity.user.name,
        "user.id": str(activity.user.uid),
        "process.entity_id": entity(activity),
        "process.name": recipe.name[:15],
        "process.start": from_epoch(activity.start),
        "process.state": "Z" if activity.zombie else "R" if activity.load > 0.3 else "S",
        "process.thread.count": max(1, round(activity.load / activity.ranks)),
    }
    if not activity.zombie:
        known |= {"process.command_line": command_line, "process.executable": executable}
    if activity.ranks > 1:
        known |= {"process.count": activity.ranks, "rolled_up": True}
    else:
        known |= {"process.pid": activity.pid, "process.parent.pid": max(1, activity.pid - 7)}
    if job is not None:
        known["job.local_id"] = str(job.number)
    measured = b',"core_seconds":%.2f,"core_seconds_user":%.2f,"core_seconds_system":%.2f'
    measured += b',"cpu.percent":%.1f'
    if not activity.zombie:
        measured += b',"memory.rss.bytes":%d,"io.read.bytes":%d,"io.write.bytes":%d'
    if activity.cards:
        count = b"%d" % len(activity.cards)
        measured += b',"gpu_seconds":%.2f,"gpu_held_seconds":%.2f,"gpu.memory.bytes":%d'
        measured += b',"gpu.count":' + count
    return b'process",' + _constant(known) + measured + b"}\n"


def card_id(host: Host, index: int) -> str:
    return f"GPU-{host.boot[9:23]}-{index:04x}"


def process_gpu_line(activity: Activity, index: int, command_line: str) -> bytes:
    """
    % (seconds, percent, memory, share of the card's memory).
    """
    host, job = activity.host, activity.job
    known: Document = {
        "user.name": activity.user.name,
        "user.id": str(activity.user.uid),
        "process.entity_id": entity(activity),
        "process.name": activity.recipe.name[:15],
        "process.pid": activity.pid,
        "process.command_line": command_line,
        "gpu.uuid": card_id(host, index),
        "gpu.index": index,
        "gpu.vendor": "nvidia",
        "gpu.model": host.model,
    }
    if job is not None:
        known["job.local_id"] = str(job.number)
    measured = b',"gpu_seconds":%.2f,"gpu.percent":%.1f,"gpu.memory.bytes":%d'
    return b'process_gpu",' + _constant(known) + measured + b',"gpu.memory.percent":%.1f}\n'


def gpu_line(host: Host, index: int) -> bytes:
    """
    % (percent, seconds, memory, share, temperature, power, energy, processes).
    """
    known: Document = {
        "gpu.uuid": card_id(host, index),
        "gpu.index": index,
        "gpu.vendor": "nvidia",
        "gpu.model": host.model,
        "gpu.driver": "550.54.15",
        "gpu.memory.total.bytes": CARD_MEMORY[host.model],
        "gpu.failing": False,
    }
    measured = b',"gpu.percent":%.1f,"gpu_seconds":%.2f,"gpu.memory.bytes":%d'
    measured += b',"gpu.memory.percent":%.1f,"temperature.celsius":%.0f,"power.watts":%.0f'
    return b'gpu",' + _constant(known) + measured + b',"energy.joules":%.0f,"gpu.processes":%d}\n'


CARD_MEMORY = {"A100": 80 << 30, "H100": 80 << 30, "A40": 48 << 30}


def node_line(host: Host) -> bytes:
    """
    % (uptime, user, system, idle, busy seconds, percent, load ×3, runnable, used, available,
    users).
    """
    known: Document = {
        "node.cores": host.cores,
        "node.threads": host.cores,
        "node.type": host.kind,
        "host.architecture": "x86_64",
        "host.cpu.model": "AMD EPYC 7763 64-Core Processor",
        "host.os.name": "Rocky Linux 9.4",
        "host.os.kernel": "5.14.0-427.el9.x86_64",
        "memory.total.bytes": host.memory,
        "swap.total.bytes": 4 << 30,
        "swap.used.bytes": 0,
    }
    measured = b',"uptime.seconds":%.0f,"cpu.user.seconds":%.2f,"cpu.system.seconds":%.2f'
    measured += b',"cpu.idle.seconds":%.2f,"core_seconds":%.2f,"cpu.percent":%.1f'
    measured += b',"load.1m":%.2f,"load.5m":%.2f,"load.15m":%.2f,"processes.runnable":%d'
    measured += b',"memory.used.bytes":%d,"memory.available.bytes":%d,"users.count":%d}\n'
    return b'node",' + _constant(known) + measured


HEARTBEAT = b'node"}\n'
