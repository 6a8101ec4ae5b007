"""
`leadline backfill`: what people see.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.store.lake import LakeStore
from leadline.store.scope import EVERYTHING

ROOT = Path(__file__).parents[1] / "enrich" / "backfill"
SGE = ROOT / "cases" / "sge" / "8.1.9_real_jobs" / "input"
SACCT = ROOT / "captures" / "slurm-22.05.8" / "sacct_wide.txt"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def backfill(lake: Path, *arguments: str) -> Result:
    data = f"paths.data={lake.parent / 'data'}"
    return CliRunner().invoke(
        cli, ["--set", data, "--store", f"lake:{lake}", "backfill", *arguments]
    )


def count(lake: Path) -> int:
    store = LakeStore(lake)
    found = sum(len(batch) for batch in store.scan("job", EVERYTHING))
    store.close()
    return found


def test_each_file_is_asked_what_it_is(lake: Path) -> None:
    """
    Grid Engine's and Slurm's files in one call; both end in the same store.
    """
    result = backfill(lake, "auto", "--cluster", "fox", str(SGE), str(SACCT))

    assert result.exit_code == 0, result.output
    assert "read 22  inserted 21" in result.output
    assert "read 83  inserted 41" in result.output
    assert count(lake) == 62


def test_a_dry_run_stores_nothing(lake: Path) -> None:
    """
    It counts what would be inserted.
    """
    result = backfill(lake, "sge", "--dry-run", "--cluster", "fox", str(SGE))

    assert "inserted 21" in result.output
    assert not lake.exists()


def test_what_is_known_is_not_read_again(lake: Path) -> None:
    """
    The second time says how much was known.
    """
    backfill(lake, "sge", "--cluster", "fox", str(SGE))

    result = backfill(lake, "sge", "--cluster", "fox", str(SGE))

    assert "read 0" in result.output
    assert "bytes known from an earlier import" in result.output


def test_refused_lines_are_kept(lake: Path, tmp_path: Path) -> None:
    """
    The report names the reasons and the file.
    """
    path = tmp_path / "accounting"
    path.write_bytes(SGE.read_bytes() + b"torn:line\n")
    rejects = tmp_path / "rejects"

    result = backfill(lake, "sge", "--cluster", "fox", "--rejects", str(rejects), str(path))

    assert "1 × 2 fields, an accounting record has 43 or more" in result.output
    assert rejects.read_bytes().startswith(f"# {path}:27: 2 fields".encode())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sge", str(SGE)], "--cluster NAME is needed"),
        (["sge", "--cluster", "fox", "--since", "soon", str(SGE)], "soon: not a time"),
        (["sge", "--cluster", "fox", "--timezone", "Mars", str(SGE)], "Mars: no such zone"),
    ],
)
def test_mistakes_are_said_in_one_line(lake: Path, arguments: list[str], said: str) -> None:
    """
    What, where, and the way out.
    """
    result = backfill(lake, *arguments)

    assert result.exit_code != 0
    assert said in result.output


def test_a_file_of_no_known_format(lake: Path, tmp_path: Path) -> None:
    """
    It is named, the others are read, and the exit code tells.
    """
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)) * 10)

    result = backfill(lake, "auto", "--cluster", "fox", str(binary), str(SGE))

    assert result.exit_code == 1
    assert "inserted 21" in result.output
    assert "binary: of no known format; there are sge, sacct" in result.output


def test_days_are_the_clusters_whatever_zone_a_file_is_in(lake: Path, tmp_path: Path) -> None:
    """
    `TZ=UTC sacct` of a cluster in Oslo: the night of 25 October begins at 22:00, and is one day.
    """
    head = "JobIDRaw|JobID|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|NNodes"
    times = "2026-10-24T21:00:00|2026-10-24T22:00:00|2026-10-25T04:00:00"
    dump = tmp_path / "dump"
    dump.write_text(f"{head}\n1|1|alice|nn1|COMPLETED|{times}|21600|1|1\n", encoding="utf-8")
    zone = ("--set", "clusters.fox.zone=Europe/Oslo")
    store = ("--store", f"lake:{lake}", "--set", f"paths.data={tmp_path / 'data'}")
    words = ("backfill", "sacct", "--cluster", "fox", "--timezone", "UTC", str(dump))
    result = CliRunner().invoke(cli, [*zone, *store, *words])
    assert result.exit_code == 0, result.output
    known = LakeStore(lake)
    (days,) = known.scan("job_slice", EVERYTHING)
    (job,) = next(iter(known.scan("job", EVERYTHING)))
    known.close()
    assert [("2026-10-25", 21600.0)] == [(day["local.day"], day["wall.seconds"]) for day in days]
    assert "2026-10-24T22:00:00.000Z" == job["job.start"]
