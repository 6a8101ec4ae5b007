"""`leadline enrich FILE…` and `leadline deadletters`, as people call them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.store import open_store
from leadline.store.scope import EVERYTHING
from tests.enrich.conftest import make_line

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def call(*words: str, stdin: bytes | None = None) -> Result:
        place = ("--set", f"paths.data={tmp_path}/data", "--store", f"lake:{tmp_path}/lake")
        return CliRunner().invoke(cli, [*place, *words], input=stdin)

    return call


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples"
    folder.mkdir()
    (folder / "a.ndjson").write_bytes(b"\n".join(make_line(n) for n in range(3)) + b"\n{broken\n")
    (folder / "b.ndjson.gz").write_bytes(gzip.compress(make_line(3) + b"\n"))
    return folder


def stored(tmp_path: Path) -> list[str]:
    store = open_store(f"lake:{tmp_path}/lake")
    batches = list(store.scan("process", EVERYTHING))
    store.close()
    return sorted(str(d["process.entity_id"]) for batch in batches for d in batch)


def test_files_twice_are_files_once(run: Run, samples: Path, tmp_path: Path) -> None:
    """
    A folder is read into the lake; reading it again finds only duplicates.
    """
    first = run("enrich", str(samples))
    assert 0 == first.exit_code, first.output
    assert "read 5  accepted 4  duplicate 0  rejected 1" in first.output
    assert "read 5  accepted 0  duplicate 4  rejected 1" in run("enrich", str(samples)).output
    assert ["0-1", "1-1", "2-1", "3-1"] == stored(tmp_path)


def test_standard_input_and_cluster(run: Run, tmp_path: Path) -> None:
    """
    --cluster names the cluster of documents that come without, or under another name.
    """
    result = run("--cluster", "owl", "enrich", "-", stdin=make_line(1))
    assert "accepted 1" in result.output
    store = open_store(f"lake:{tmp_path}/lake")
    ((document,),) = store.scan("process", EVERYTHING)
    store.close()
    assert "owl" == document["cluster"]


def test_foreign_file_is_told_and_the_others_are_read(
    run: Run, samples: Path, tmp_path: Path
) -> None:
    """
    A file of something else is one line and a non-zero end; it makes no dead letters.
    """
    foreign = tmp_path / "picture.png"
    foreign.write_bytes(b"\x89PNG\r\n\x1a\n" * 50)
    result = run("enrich", str(foreign), str(samples / "b.ndjson.gz"))
    assert 1 == result.exit_code
    assert "picture.png: no documents of leadline in it" in result.output
    assert "accepted 1" in result.output
    assert ["3-1"] == stored(tmp_path)


def test_truncated_file_gives_what_it_had(run: Run, tmp_path: Path) -> None:
    """
    A packed file that breaks off ends with 1 and its name; what came before is stored.
    """
    path = tmp_path / "torn.ndjson.gz"
    lines = b"".join(make_line(n, **{"process.command_line": f"x{n}"}) + b"\n" for n in range(2000))
    path.write_bytes(gzip.compress(lines)[:-20])
    result = run("enrich", str(path))
    assert 1 == result.exit_code
    assert "torn.ndjson.gz: broken gzip" in result.output
    assert len(stored(tmp_path)) > 1000


def test_dead_letters_are_listed_and_replayed(run: Run, samples: Path) -> None:
    """
    Each with its reason and source; a replay that fails again keeps them.
    """
    run("enrich", str(samples))
    listed = run("deadletters", "list").output
    assert "a.ndjson  not JSON" in listed
    assert "{broken" in listed
    (line,) = run("deadletters", "list", "--json").output.splitlines()
    assert "{broken" == orjson.loads(line)["input"]
    assert "replayed 1  accepted 0  duplicate 0  rejected again 1" in (
        run("deadletters", "replay").output
    )
    assert "1  not JSON" in run("deadletters", "list", "--reasons").output


def test_a_daemon_reads_no_files(run: Run, samples: Path) -> None:
    """
    Files and --listen together are refused, and so is an address that is none.
    """
    both = run("enrich", str(samples), "--listen", "127.0.0.1:1")
    assert (2, True) == (both.exit_code, "leave one out" in both.output)
    wrong = run("enrich", "--listen", "nowhere")
    assert (2, True) == (wrong.exit_code, "write it as 127.0.0.1:8460" in wrong.output)
