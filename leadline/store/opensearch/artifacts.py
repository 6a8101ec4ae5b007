"""
A local OpenSearch out of Maven artifacts, because `pip install` is all that a test or a first try
should need: resolved by `jgo`, compared with the pinned checksums of artifacts.txt, unpacked once
into a cache.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import StoreError

VERSION = "3.4.0"
PINNED = Path(__file__).with_name("artifacts.txt")
SERVER = f"org.opensearch.distribution.integ-test-zip:opensearch:{VERSION}:zip"
ICU = ("com.ibm.icu:icu4j", "com.ibm.icu:icu4j-localespi")
UNUSED = ("lib/tools/", "modules/transport-grpc/", "bin/")  # half of the size, not needed to run


@dataclass(frozen=True, slots=True)
class Module:
    """
    What the distribution leaves out: jars put together as modules/<name>.
    """

    name: str
    java_class: str
    jars: tuple[str, ...]  # beginnings of coordinates in artifacts.txt
    extends: str = ""
    permissions: tuple[str, ...] = ()


MODULES = (
    Module(
        "lang-painless",
        "org.opensearch.painless.PainlessModulePlugin",
        (
            "org.opensearch.plugin:lang-painless",
            "org.opensearch.plugin:opensearch-scripting-painless-spi",
            "org.antlr:",
            "org.ow2.asm:",
        ),
        permissions=(
            'java.lang.RuntimePermission "createClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
        ),
    ),
    Module(
        "analysis-common",
        "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
        ("org.opensearch.plugin:analysis-common",),
        extends="lang-painless",
    ),
    Module(
        "reindex",
        "org.opensearch.index.reindex.ReindexModulePlugin",
        (
            "org.opensearch.plugin:reindex-client",
            "org.opensearch.client:",
            "org.opensearch:opensearch-ssl-config",
            "org.apache.httpcomponents.",
            "commons-codec:",
            "commons-logging:",
            "org.slf4j:",
        ),
        permissions=(
            'java.net.SocketPermission "*", "connect"',
            'java.net.NetPermission "getProxySelector"',
        ),
    ),
    Module(
        "mapper-extras",
        "org.opensearch.index.mapper.MapperExtrasModulePlugin",
        ("org.opensearch.plugin:mapper-extras-client",),
    ),
)


def pins() -> dict[str, str]:
    """
    Coordinates and the SHA-512 each file must have.
    """
    lines = (line.split() for line in PINNED.read_text().splitlines() if not line.startswith("#"))
    return {coordinates: checksum for checksum, coordinates in lines}


def distribution(folder: Path | None = None) -> Path:
    """
    The unpacked OpenSearch in `folder` (default: the cache), made when it is not there yet.
    """
    folder = folder or cache()
    recipe = PINNED.read_bytes() + repr((MODULES, UNUSED)).encode()
    home = folder / f"opensearch-{VERSION}-{hashlib.sha256(recipe).hexdigest()[:8]}"
    if not home.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix="unpacking-", dir=folder))
        try:
            unpack(unfinished)
            unfinished.chmod(0o755)
            unfinished.rename(home)
        except OSError as error:
            if not home.is_dir():  # else another process was faster, and its copy is as good
                raise StoreError(
                    f"{folder}: OpenSearch could not be unpacked there ({error}); "
                    "set XDG_CACHE_HOME to a folder with 200 MB free"
                ) from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return home


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leadline"


def unpack(home: Path) -> None:
    """
    The distribution without what a node does not need, plus our modules.
    """
    files = {coordinates: resolve(coordinates, sha) for coordinates, sha in pins().items()}
    with zipfile.ZipFile(files[SERVER]) as archive:
        for member in archive.infolist():
            name = member.filename.partition("/")[2]
            if name and not member.is_dir() and not name.startswith(UNUSED) and ".." not in name:
                target = home / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
    for module in MODULES:
        add_module(home / "modules" / module.name, module, files)
    for folder in ("bin", "icu", "plugins"):  # a node insists on the empty ones
        (home / folder).mkdir(exist_ok=True)
    for coordinates, file in files.items():
        if coordinates.startswith(ICU):
            shutil.copyfile(file, home / "icu" / file.name)


def add_module(folder: Path, module: Module, files: dict[str, Path]) -> None:
    folder.mkdir(parents=True)
    for coordinates, file in files.items():
        if coordinates.startswith(module.jars):
            shutil.copyfile(file, folder / file.name)
    properties = {
        "name": module.name,
        "description": module.name,
        "classname": module.java_class,
        "version": VERSION,
        "opensearch.version": VERSION,
        "java.version": "21",
        "extended.plugins": module.extends,
        "has.native.controller": "false",
    }
    text = "".join(f"{name}={value}\n" for name, value in properties.items())
    (folder / "plugin-descriptor.properties").write_text(text)
    if module.permissions:
        grants = "".join(f"  permission {permission};\n" for permission in module.permissions)
        (folder / "plugin-security.policy").write_text(f"grant {{\n{grants}}};\n")


def with_plugins(home: Path, place: Path, plugins: Mapping[Path, Sequence[Path]]) -> Path:
    """
    A copy of HOME in PLACE that has PLUGINS, each with the jars it expects of what it extends. What
    it extends and is not there is left out.
    """
    if place.exists():
        return place
    shutil.copytree(home, place)
    there = {folder.name for folder in (home / "modules").iterdir()}
    for plugin, jars in plugins.items():
        folder = place / "plugins" / plugin.name.rpartition("-")[0]
        with zipfile.ZipFile(plugin) as archive:
            archive.extractall(folder)
        for jar in jars:
            shutil.copyfile(jar, folder / jar.name)
        descriptor = folder / "plugin-descriptor.properties"
        lines = descriptor.read_text().splitlines()
        descriptor.write_text("".join(f"{_extends(line, there)}\n" for line in lines))
    return place


def _extends(line: str, there: set[str]) -> str:
    name, sign, value = line.partition("=")
    if name != "extended.plugins":
        return line
    kept = [part for part in value.split(",") if part.partition(";")[0] in there]
    return f"{name}{sign}{','.join(kept)}"


def resolve(coordinates: str, checksum: str) -> Path:
    """
    One file from Maven's local repository, or fetched into it; its checksum must be the pinned one.
    """
    try:
        from jgo.maven import MavenContext
    except ImportError as error:
        raise StoreError(
            "a local OpenSearch is fetched with jgo, which is not installed: "
            "pip install 'leadline[test]', or name a running one with --store opensearch=URL"
        ) from error
    group, artifact, version, packaging = coordinates.split(":")
    component = MavenContext(timeout=60).project(group, artifact).at_version(version)
    try:
        found: Path | None = component.artifact(packaging=packaging).resolve()
    except Exception as error:  # jgo lets through whatever its HTTP library raised
        raise StoreError(
            f"{coordinates} cannot be fetched: {error}; is Maven reachable?"
        ) from error
    if found is None:
        raise StoreError(f"{coordinates} is in no Maven repository that jgo knows")
    path = Path(found)
    check(path, coordinates, checksum)
    return path


def check(path: Path, coordinates: str, checksum: str) -> None:
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha512").hexdigest()
    if actual != checksum:
        raise StoreError(
            f"{path}: not the pinned {coordinates} (SHA-512 {actual[:16]}…, "
            f"expected {checksum[:16]}…); delete the file and try again"
        )
