"""`leadline doctor`: what is in force on this machine, what is missing, and the way out."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import click

from leadline.commands.context import Context, with_context
from leadline.commands.showing import prose
from leadline.errors import LeadlineError
from leadline.formats.counted import counted
from leadline.settings.load import places
from leadline.settings.zones import local_zone

OURS = ("leadline", "shipper", "enrich", "index_templates", "kibana")

# Module, package that brings it, what it is for.
OPTIONAL = (
    ("duckdb", "leadline[server]", "the lake, backfill"),
    ("deltalake", "leadline[server]", "the lake"),
    ("flask", "leadline[server]", "worker and web pages"),
    ("gunicorn", "leadline[server]", "worker and web pages"),
    ("re2", "leadline[server]", "naming programs"),
    ("vl_convert", "leadline[server]", "charts"),
    ("opensearchpy", "leadline[opensearch]", "an OpenSearch store"),
    ("pynvml", "leadline[nvidia]", "NVIDIA cards on this machine"),
    ("pyslurm", "leadline[slurm]", "Slurm without its commands; they are used when it is absent"),
)
PROGRAMS = (
    ("squeue", "Slurm's commands, on one machine per cluster"),
    ("sacct", "Slurm's accounting"),
    ("qacct", "Grid Engine's accounting"),
    ("nvidia-smi", "NVIDIA's driver"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    verdict: str  # ok, missing (fine without) or wrong (will not work)
    what: str
    detail: str


@click.command()
@with_context
def doctor(context: Context) -> None:
    """
    Print what is in force on this machine and what is missing, with the way out.

    Ends with 1 when something is wrong, not when something optional is missing.

    \b
    Example:
        leadline doctor
    """
    found = [finding for check in CHECKS for finding in check(context)]
    width = max(len(finding.what) for finding in found)
    for finding in found:
        click.echo(prose([f"{finding.verdict:8} {finding.what:{width}}  {finding.detail}"]))
    click.echo("\nSettings that differ from the defaults:")
    for line in changed(context) or ["(none)"]:
        click.echo(f"  {line}")
    if any(finding.verdict == "wrong" for finding in found):
        sys.exit(1)


def check_python(context: Context) -> Iterator[Finding]:
    yield Finding("ok", "leadline", f"{version('leadline')}, Python {platform.python_version()}")
    owners = packages_distributions()
    for name in OURS:
        strangers = set(owners.get(name, ())) - {"leadline"}
        if strangers:
            others = ", ".join(sorted(strangers))
            yield Finding("wrong", name, f"also installed by {others}: give leadline its own venv")


def check_settings(context: Context) -> Iterator[Finding]:
    files = ", ".join(map(str, context.settings.files))
    looked = " or ".join(map(str, places()))
    yield Finding("ok", "settings", files or f"defaults; a file would lie in {looked}")
    yield Finding("ok", "time zone", f"{local_zone().key} for clusters that name none")


def check_folders(context: Context) -> Iterator[Finding]:
    folder = context.paths.data
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        yield Finding(
            "wrong", "data folder", f"{folder}: {existing} is no folder this user can write to"
        )
        return
    free = shutil.disk_usage(existing).free / 2**30
    yield Finding("ok" if free > 1 else "wrong", "data folder", f"{folder}, {free:.0f} GiB free")
    kind = filesystem_type(existing)
    if kind.startswith(("nfs", "cifs", "lustre", "beegfs", "gpfs")):
        detail = f"{kind} does not keep locks surely: put paths.data on a local disk"
        yield Finding("wrong", "data folder", detail)


def filesystem_type(path: Path) -> str:
    """
    Type of the file system that holds PATH, by the longest mount point above it.
    """
    best = ("", "")
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""  # not Linux: nothing to warn of
    for line in lines:
        words = line.split()
        if len(words) > 2 and path.is_relative_to(words[1]) and len(words[1]) >= len(best[0]):
            best = (words[1], words[2])
    return best[1]


def check_files(context: Context) -> Iterator[Finding]:
    """
    Certificates and secrets of what runs on a server: the daemons would end without them.
    """
    sections = context.settings.sections
    known: dict[str, Any] = {name: sections[name] for name in ("worker", "web")}
    known |= {f"clusters.{name}": cluster for name, cluster in context.clusters.items()}
    for name, section in known.items():
        for field in fields(section):
            path = getattr(section, field.name)
            if isinstance(path, Path) and not os.access(path, os.R_OK):
                why = "cannot be read by this user" if path.exists() else "is not there"
                yield Finding("wrong", f"{name}.{field.name}", f"{path} {why}")


def check_store(context: Context) -> Iterator[Finding]:
    yield Finding("ok", "store", context.store_address)


def check_optional(context: Context) -> Iterator[Finding]:
    for module, extra, purpose in OPTIONAL:
        if importlib.util.find_spec(module) is None:
            yield Finding("missing", module, f"pip install '{extra}' for {purpose}")
        else:
            yield Finding("ok", module, f"{installed_version(module)}, for {purpose}")
    for program, purpose in PROGRAMS:
        path = shutil.which(program)
        yield Finding("ok" if path else "missing", program, f"{path or 'not on PATH'}: {purpose}")


def installed_version(module: str) -> str:
    names = packages_distributions().get(module, [module])
    try:
        return version(names[0])
    except PackageNotFoundError:
        return "?"


def check_collectors(context: Context) -> Iterator[Finding]:
    """
    What a shipper could measure here, and why not the rest.
    """
    from shipper.settings import CollectSettings
    from shipper.snapshot import unavailable
    from shipper.system import System

    settings = context.settings.get("collect", CollectSettings)
    missing = unavailable(settings, System())
    there = ", ".join(name for name in settings.collectors if name not in missing)
    yield Finding("ok", "collectors", there or "none is switched on")
    for name, reason in missing.items():
        yield Finding("missing", f"collector {name}", reason)


def check_shipper(context: Context) -> Iterator[Finding]:
    """
    Where this node's samples would go, whether it has what that takes, and what it may not read.
    """
    from shipper.senders import build_sink
    from shipper.senders.http import read_token
    from shipper.senders.settings import ShipSettings
    from shipper.status import read_status
    from shipper.system import System

    ship = context.settings.get("ship", ShipSettings)
    try:
        sink = build_sink(ship, System().host_name())
        token = "with a token" if ship.sink == "http" and read_token(ship) else "without a token"
    except LeadlineError as error:
        yield Finding("wrong", "shipper", str(error))
    else:
        sink.close()
        ran = read_status(context.paths.state / "shipper")
        last = f"last look {ran['time']}" if ran else "has not run here"
        yield Finding("ok", "shipper", f"sends to {sink.target} {token}; {last}")
    if System().read("/proc/1/stat") and System().read("/proc/1/io") is None:
        why = "of other users' processes no I/O is seen; the unit in docs/ship.md keeps the right"
        yield Finding("missing", "CAP_SYS_PTRACE", why)


def check_slurm(context: Context) -> Iterator[Finding]:
    """
    How Slurm is asked from here, where it is, and why not by pyslurm: one look as a shipper takes.
    """
    from shipper.collectors.slurm.asking import Asking
    from shipper.settings import CollectSettings
    from shipper.system import System

    settings = context.settings.get("collect", CollectSettings).slurm_live
    if not settings.enabled:
        return
    system = System()
    asking = Asking(system, settings)
    look = asking.look(system.uptime() + settings.timeout)
    if asking.pyslurm_problem:
        yield Finding("missing", "pyslurm", f"not used: {asking.pyslurm_problem}")
    if look is None:
        yield Finding("wrong", "slurmctld", f"did not answer: {asking.problem}")
    else:
        detail = (
            f"{asking.ways}; {counted(len(look.nodes), 'node')}, {counted(len(look.jobs), 'job')}"
        )
        yield Finding("ok", "slurmctld", f"asked for {detail}")


CHECKS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    check_python,
    check_settings,
    check_folders,
    check_files,
    check_store,
    check_optional,
    check_collectors,
    check_shipper,
    check_slurm,
)


def changed(context: Context) -> list[str]:
    """
    Every setting that is not at its default, secrets hidden.
    """
    lines: list[str] = []
    for name, section in context.settings.sections.items():
        if isinstance(section, dict):
            for key, inner in section.items():
                lines += differences(f"{name}.{key}", inner, None)
        else:
            lines += differences(name, section, type(section)())
    return lines


def differences(name: str, value: object, default: object) -> list[str]:
    """
    What of VALUE is not as in DEFAULT; without one, not as its own fields begin.
    """
    if is_dataclass(value):
        return [
            line
            for field in fields(value)
            for line in differences(
                f"{name}.{field.name}",
                getattr(value, field.name),
                _default(field) if default is None else getattr(default, field.name),
            )
        ]
    if value == default:
        return []
    secret = name.rsplit(".", 1)[-1] in {"token", "password", "api_key"}
    return [f"{name} = {'(set)' if secret else value}"]


def _default(field: Field[object]) -> object:
    """
    What a setting is when nothing is said; one that must be said has none.
    """
    return field.default if field.default_factory is MISSING else field.default_factory()
