"""
Other languages' own bulk clients as peers: opensearch-go's BulkIndexer and opensearch-js's
helpers.bulk, made ready once in a cache folder by go and npm where those are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parent / "peers"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "leadline" / "bench"
PATIENCE = 600


@dataclass(frozen=True, slots=True)
class Peer:
    """
    A program that stores a file of bulk lines at an address.
    """

    name: str
    tool: str  # without it there is no such peer
    prepare: tuple[str, ...]
    run: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    def load(self, url: str, bodies: Path) -> None:
        subprocess.run([*self.run, url, str(bodies)], cwd=self.folder, check=True, timeout=PATIENCE)


PEERS = (
    Peer("opensearch-go", "go", ("go", "build", "-o", "bulk", "."), ("./bulk",)),
    Peer(
        "opensearch-js",
        "npm",
        ("npm", "install", "--no-audit", "--no-fund", "--silent"),
        ("node", "main.js"),
    ),
)


def ready(peers: Sequence[Peer] = PEERS) -> Iterator[Peer]:
    """
    Those that can be had here; why the others cannot is said.
    """
    for peer in peers:
        if shutil.which(peer.tool) is None:
            print(f"  {peer.name} is left out: no {peer.tool}", file=sys.stderr)
            continue
        shutil.copytree(SOURCES / peer.name, peer.folder, dirs_exist_ok=True)
        try:
            subprocess.run(peer.prepare, cwd=peer.folder, check=True, timeout=PATIENCE)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"  {peer.name} is left out: {error}", file=sys.stderr)
        else:
            yield peer
