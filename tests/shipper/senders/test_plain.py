"""
The sinks without a network, and the settings that choose one.
"""

import io
import os
import resource
from pathlib import Path

import pytest

from leadline.settings import Duration, load
from shipper.senders import build_sink
from shipper.senders.file import FileSink
from shipper.senders.refused import RefusedFile
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import NotNow
from shipper.senders.stdout import StdoutSink


def test_file_sink_appends(tmp_path: Path) -> None:
    """
    Batches land one after the other, also after the file was moved away.
    """
    path = tmp_path / "out" / "samples.ndjson"
    sink = build_sink(ShipSettings(sink="file", path=path), "n1")
    sink.send(b"1\n", 1)
    sink.send(b"2\n", 1)
    assert path.read_bytes() == b"1\n2\n"
    path.rename(tmp_path / "moved")
    sink.send(b"3\n", 1)
    assert path.read_bytes() == b"3\n"


def test_file_sink_takes_back_half_a_batch(tmp_path: Path) -> None:
    """
    A full disk leaves no torn line, and the batch is for later.
    """
    sink = FileSink(tmp_path / "out")
    sink.send(b"first\n", 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        with pytest.raises(NotNow, match="out: File too large"):
            sink.send(b"x" * 30 + b"\n", 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "out").read_bytes() == b"first\n"


def test_stdout_sink_writes_and_survives_a_closed_pipe() -> None:
    """
    Lines go out as they are; when nobody reads any more it is for later.
    """
    out = io.BytesIO()
    StdoutSink(out).send(b"1\n2\n", 2)
    assert out.getvalue() == b"1\n2\n"
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(NotNow, match="standard output"):
        StdoutSink(io.FileIO(writing, "w")).send(b"1\n", 1)


def test_refused_documents_are_bounded_and_counted(tmp_path: Path) -> None:
    """
    The file turns over once it is large; the count goes on, also over a restart.
    """
    path = tmp_path / "refused.ndjson"
    refused = RefusedFile(path)
    for _ in range(4):
        refused.add(b"\xff" + b"x" * (6 << 20), "400", 0.0)
    assert RefusedFile(path).count == 4
    assert sorted(p.name for p in tmp_path.glob("*ndjson*")) == [
        "refused.ndjson",
        "refused.ndjson.1",
    ]


def test_settings_use_the_names_of_filebeat(tmp_path: Path) -> None:
    """
    Nested names work with dots, and reach the spool's settings.
    """
    overrides = ["ship.backoff.init=2s", "ship.queue.disk.max_size=10MB", "ship.interval=15s"]
    overrides += ["ship.endpoints=https://a:1, http://b"]
    (tmp_path / "leadline.yaml").write_text("ship:\n  flush.timeout: 3s\n")
    found = load({"ship": ShipSettings}, file=tmp_path / "leadline.yaml", overrides=overrides).get(
        "ship", ShipSettings
    )
    waits = [found.backoff.init, found.flush.timeout, found.interval]
    assert [float(wait) for wait in waits] == [2, 3, 15]
    assert found.queue.disk.max_size == 10_000_000
    assert found.endpoints == ("https://a:1", "http://b")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"endpoints": ("worker:8460",)}, "write https://HOST:8460"),
        ({"endpoints": ("http://[::1",)}, "write https://HOST:8460"),
        ({"endpoints": ()}, "endpoints is empty"),
        ({"sink": "file"}, "path is missing"),
        ({"bulk_max_size": 0}, "bulk_max_size"),
        ({"compression_level": 11}, "compression_level"),
        ({"interval": Duration(0)}, "interval"),
        ({"jitter": Duration(61)}, "jitter"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object], words: str) -> None:
    """
    A mistake is told at the start, not at the first batch.
    """
    with pytest.raises(ValueError, match=words):
        ShipSettings(**wrong)  # type: ignore[arg-type]
