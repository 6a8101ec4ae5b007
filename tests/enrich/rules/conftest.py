"""Rules from a few lines, written to a file as a site would."""

from collections.abc import Callable
from pathlib import Path

import pytest

from enrich.rules import Rules, read_rules
from enrich.rules.files import read_file

HEADER = "pattern,program,version,path,tags,applies_to"

Written = Callable[..., Path]
Ruled = Callable[..., Rules]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """
    Lines below the header, as a rule file.
    """

    def write(*lines: str, name: str = "site.csv", header: str = HEADER) -> Path:
        path = tmp_path / name
        path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def ruled(written: Written) -> Ruled:
    """
    Only these rules, none of the shipped.
    """

    def rules(*lines: str, linear: bool = True) -> Rules:
        return Rules([read_file(written(*lines))], linear=linear)

    return rules


@pytest.fixture(scope="session")
def shipped() -> Rules:
    return read_rules()


@pytest.fixture(scope="session")
def examples() -> list[list[str]]:
    """
    name, executable, command line, program of every example of the shipped catalogue.
    """
    text = Path(__file__).with_name("examples.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]
