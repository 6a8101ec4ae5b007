"""
The other languages' own bulk clients, where they are there: opensearch-js's helpers.bulk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODE_CASE = "opensearch_js"

SCRIPT = """
const { Client } = require('@opensearch-project/opensearch');
const fs = require('fs');
const [url, file] = process.argv.slice(2);
const client = new Client({ node: url });
const lines = fs.readFileSync(file, 'utf8').split('\\n');
async function* documents() {
  for (let n = 0; n + 1 < lines.length; n += 2) yield [lines[n], lines[n + 1]];
}
client.helpers.bulk({
  datasource: documents(),
  onDocument: ([action, source]) => {
    const { _index, _id } = JSON.parse(action).create;
    return { create: { _index, _id } };
  },
}).then((done) => { if (done.failed) process.exit(1); });
"""


@dataclass(frozen=True, slots=True)
class NodeClient:
    folder: Path  # holds node_modules

    def load(self, url: str, bodies: list[bytes]) -> None:
        with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
            for body in bodies:
                file.write(body)
            file.flush()
            script = self.folder / "load.js"
            script.write_text(SCRIPT)
            subprocess.run(["node", str(script), url, file.name], cwd=self.folder, check=True)


def node_client() -> NodeClient | None:
    """
    The client if Node is there and LEADLINE_BENCH_NODE names a folder with it installed.
    """
    folder = os.environ.get("LEADLINE_BENCH_NODE")
    if not folder or not shutil.which("node"):
        return None
    return NodeClient(Path(folder))
