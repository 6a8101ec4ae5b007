"""The wheel: complete, alone in its names, and light where it must be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.needs import lacking

ROOT = Path(__file__).resolve().parents[1]
SERVER_ONLY = ("duckdb", "deltalake", "flask", "opensearchpy", "re2", "vl_convert")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    Built of a copy: what an earlier build left behind would be in it.
    """
    out = tmp_path_factory.mktemp("wheel")
    tree = tmp_path_factory.mktemp("tree") / "leadline"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    done = subprocess.run([*command, str(tree)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    An environment with the core install of the wheel and nothing else; its bin folder.
    """
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "pip"), "install", "--quiet", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "bin"


def run(installed: Path, elsewhere: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LEADLINE"))}
    return subprocess.run(
        [str(installed / command[0]), *command[1:]],
        cwd=elsewhere,
        env={**environment, "HOME": str(elsewhere)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def shared(wheel: Path, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A folder of a shared file system with leadline and what the core needs.
    """
    folder = tmp_path_factory.mktemp("shared")
    pip = [str(installed / "pip"), "install", "--quiet", "--target", str(folder), str(wheel)]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    The bin folder of a Python that has nothing installed.
    """
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    return folder / "bin"


def ships(bare: Path, elsewhere: Path, *command: str, **environment: str) -> None:
    """
    COMMAND takes one look and writes it where it is told.
    """
    out = elsewhere / "out.ndjson"
    words = ["--set", "ship.sink=file", "--set", f"ship.path={out}", "ship", "--once"]
    done = subprocess.run(
        [str(bare / "python"), *command, *words],
        cwd=elsewhere,
        env={"PATH": os.environ["PATH"], "LEADLINE_DATA": str(elsewhere / "data"), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert '"dataset":"node"' in out.read_text()
    assert (elsewhere / "data" / "state" / "shipper" / "status.json").exists()


def test_a_shared_folder_ships(bare: Path, shared: Path, tmp_path: Path) -> None:
    """
    `pip install --target` once, and each node's own Python ships with it.
    """
    ships(bare, tmp_path, "-m", "leadline.commands", PYTHONPATH=str(shared))


def test_one_file_ships(bare: Path, shared: Path, tmp_path: Path) -> None:
    """
    shiv's file carries psutil's and orjson's binaries, which a plain zipapp could not load.
    """
    if shutil.which("shiv") is None:
        lacking("shiv is missing: pip install 'leadline[test]'")
    file = tmp_path / "leadline.pyz"
    make = ["shiv", "--site-packages", str(shared), "-c", "leadline", "-o", str(file)]
    done = subprocess.run(make, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    ships(bare, tmp_path, str(file), SHIV_ROOT=str(tmp_path / "unpacked"))
    assert list((tmp_path / "unpacked").rglob("orjson*.so"))
    assert file.stat().st_size < 6 << 20


def test_wheel_holds_what_is_not_python(wheel: Path) -> None:
    """
    Data files travel: index templates, rules, saved objects.
    """
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("enrich/rules/programs.csv", "leadline/py.typed"):
        assert wanted in names
    assert any(n.startswith("index_templates/") and n.endswith(".json") for n in names)
    assert not [n for n in names if n.startswith(("tests/", "bench/"))]


def test_help_works_from_elsewhere(installed: Path, tmp_path: Path) -> None:
    """
    `leadline --help` needs no checkout and lists the commands.
    """
    done = run(installed, tmp_path, "leadline", "--help")
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
    assert "sample" in done.stdout


def test_sample_works_on_the_core_install(installed: Path, tmp_path: Path) -> None:
    """
    A node needs no extra to give a snapshot.
    """
    done = run(installed, tmp_path, "leadline", "sample")
    assert done.returncode == 0, done.stderr
    assert '"dataset":"process"' in done.stdout


def test_core_install_imports_nothing_of_the_server(installed: Path, tmp_path: Path) -> None:
    """
    A sample loads neither lake, web nor search client: a node stays light.
    """
    code = (
        "import sys\n"
        "from leadline.commands import cli\n"
        "cli.main(['sample'], standalone_mode=False)\n"
        f"print([m for m in {SERVER_ONLY!r} if m in sys.modules], file=sys.stderr)\n"
    )
    done = run(installed, tmp_path, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_missing_extra_is_told_in_one_line(installed: Path, tmp_path: Path) -> None:
    """
    A command that needs more than the core says what to install.
    """
    done = run(installed, tmp_path, "leadline", "--store", f"lake:{tmp_path}", "usage")
    assert done.returncode == 1
    assert "pip install 'leadline[server]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_names_are_ours_alone() -> None:
    """
    Another package called `enrich` exists: nobody else may own our top-level names here.
    """
    owners = packages_distributions()
    for name in ("leadline", "shipper", "enrich", "index_templates", "kibana"):
        assert {"leadline"} == set(owners.get(name, ["leadline"])), name
