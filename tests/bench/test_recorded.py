"""
The recorded process table: what it holds, what it may not hold, what it costs on the wire.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

from bench.record import record
from bench.recorded import RECORDED, Recorded, recorded_node
from bench.shipper import packed
from leadline.formats import DATASETS

SECRET = "tr0ub4dor"


def test_a_process_sample_costs_forty_bytes_at_most() -> None:
    """
    On the recorded node, in gzip batches: as it is sent, and with each process alone as well.
    """
    for roll_up in (True, False):
        documents, processes = recorded_node(roll_up)
        assert processes > 150
        assert packed(documents) / processes <= 40


def test_recorded_documents_are_what_a_node_sends() -> None:
    """
    Deltas, jobs of several users and I/O are in it, and no field nobody knows.
    """
    documents, _ = recorded_node()
    known = {field.name for field in DATASETS["process"].fields}
    assert {name for document in documents for name in document} - known == set()
    assert sum(document.get("core_seconds", 0) > 0 for document in documents) > 5  # type: ignore[operator]
    assert len({document["user.name"] for document in documents}) >= 5
    assert len({document.get("job.local_id") for document in documents}) >= 6


def test_the_recording_is_small_and_tells_nothing_of_its_machine() -> None:
    """
    No home, no temporary folder, no secret; and small enough to live beside the code.
    """
    assert RECORDED.stat().st_size < 200_000
    text = gzip.decompress(RECORDED.read_bytes()).decode()
    assert [word for word in ("/root", "/home", "/tmp/leadline", "PATH") if word in text] == []


def test_recording_again_takes_secrets_out(tmp_path: Path) -> None:
    """
    A command's children are recorded twice, redacted and renamed, and can be looked at again.
    """
    command = [
        *(sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])"),
        *("sh", "-c", "sleep 60; :", f"{tmp_path}/tool", f"--password={SECRET}"),
    ]
    head, *lines = record(command, 0.6, 0.2, {str(tmp_path): "/proj"})
    assert head["processes"] == [2, 2]
    first = lines[0]
    assert first["command"] == "sh -c sleep 60; : /proj/tool --password=***"
    path = tmp_path / "node.ndjson.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(x) for x in (head, *lines)).encode()))
    machine = Recorded(path)
    assert sorted(machine.pids()) == sorted({line["pid"] for line in lines})
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert f"--password={SECRET}" not in left
