"""Sources: files, folders, patterns and packed files give the same lines."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enrich import sources
from enrich.sources import SourceError, find_sources, read_lines

LINES = [b'{"a":1}', b'{"b":2}']
TEXT = b'{"a":1}\n\n{"b":2}'


def collect(path: Path, lines: list[bytes]) -> None:
    for some in read_lines(str(path)):
        lines += some


def all_lines(path: Path, longest: int = 1 << 20) -> list[bytes]:
    return [line for lines in read_lines(str(path), longest) for line in lines]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.ndjson", TEXT),
        ("x.ndjson.gz", gzip.compress(TEXT)),
        ("two-members.gz", gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:])),
        ("x.ndjson.zst", zstandard.compress(TEXT)),
        ("no-suffix", gzip.compress(TEXT)),
    ],
    ids=["plain", "gzip", "gzip of two members", "zstd", "gzip without suffix"],
)
def test_packed_or_not(tmp_path: Path, name: str, data: bytes) -> None:
    """
    What a file is packed with is seen from its first bytes, not from its name.
    """
    path = tmp_path / name
    path.write_bytes(data)
    assert LINES == all_lines(path)


def test_folders_and_patterns(tmp_path: Path) -> None:
    """
    A folder stands for the documents below it, each file is read once.
    """
    (tmp_path / "deep").mkdir()
    for name in ("b.ndjson", "deep/a.ndjson.gz", "truth.json", "note.txt"):
        (tmp_path / name).write_bytes(TEXT)
    found = find_sources([str(tmp_path), f"{tmp_path}/*.ndjson"])
    assert ["b.ndjson", "deep/a.ndjson.gz"] == [str(Path(f).relative_to(tmp_path)) for f in found]


def test_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    """
    A name that stands for nothing is told before anything is read.
    """
    with pytest.raises(SourceError, match="no such file or folder"):
        find_sources([str(tmp_path / "nothing")])
    with pytest.raises(SourceError, match="no file in it"):
        find_sources([str(tmp_path)])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_truncated_file_gives_what_it_has(tmp_path: Path, pack: object) -> None:
    """
    A packed file that breaks off is an error with its name, after what could be read.
    """
    path = tmp_path / "torn"
    data = pack(b'{"number": 12345678}\n' * 10_000)  # type: ignore[operator]
    path.write_bytes(data[: len(data) // 2])
    lines: list[bytes] = []
    with pytest.raises(SourceError, match=r"torn: broken (gzip|zstd)"):
        collect(path, lines)
    assert len(lines) < 10_000


def test_endless_line_does_not_fill_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A line beyond the bound comes cut, once, and the lines around it come whole.
    """
    monkeypatch.setattr(sources, "CHUNK", 64)
    path = tmp_path / "x"
    path.write_bytes(b"one\n" + b"x" * 1000 + b"\ntwo\n")
    assert [b"one", b"x" * 100, b"two"] == all_lines(path, longest=100)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_arbitrary_bytes_raise_only_source_error(tmp_path: Path, data: bytes) -> None:
    """
    Any file at all is lines, or an error that names it.
    """
    path = tmp_path / "any"
    path.write_bytes(data)
    lines: list[bytes] = []
    with contextlib.suppress(SourceError):
        collect(path, lines)
    assert all(line.strip() and b"\n" not in line for line in lines)
