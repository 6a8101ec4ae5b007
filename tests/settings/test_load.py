"""Settings are checked whole before anything runs: strangers refused by file, line and name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import SettingsError
from leadline.settings import Duration, Size, load


@dataclass(frozen=True)
class Backoff:
    init: Duration = Duration(1)
    max: Duration = Duration(60)


@dataclass(frozen=True)
class Worker:
    bulk_max_size: int = 1600
    listen: str = "127.0.0.1:8460"
    compress: bool = True
    memory: Size = Size(1024)
    backoff: Backoff = field(default_factory=Backoff)
    users: tuple[str, ...] = ()
    level: Literal["info", "debug"] = "info"
    folder: Path | None = None


@dataclass(frozen=True)
class Cluster:
    zone: str = ""


SCHEMA: dict[str, Any] = {"worker": Worker, "clusters": dict[str, Cluster]}


def load_text(tmp_path: Path, text: str, *overrides: str) -> Any:
    file = tmp_path / "leadline.yaml"
    file.write_text(text)
    return load(SCHEMA, file=file, overrides=overrides)


def worker_of(tmp_path: Path, text: str, *overrides: str) -> Worker:
    found = load_text(tmp_path, text, *overrides).sections["worker"]
    assert isinstance(found, Worker)
    return found


def test_a_section_nobody_wrote_is_made_when_asked_for(tmp_path: Path) -> None:
    """
    A node's shipper pays for no section of the worker's, while what is written is checked at once.
    """

    class Schema(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            asked.append(name)
            return super().__getitem__(name)

    asked: list[str] = []
    file = tmp_path / "leadline.yaml"
    file.write_text("clusters: {fox: {zone: UTC}}")
    found = load(Schema(SCHEMA), file=file)
    assert asked == ["clusters"]
    assert found.get("worker", Worker) == Worker()
    assert list(found.sections) == list(SCHEMA)
    file.write_text("worker: {wrong: 1}")
    with pytest.raises(SettingsError, match=r"unknown setting worker\.wrong"):
        load(Schema(SCHEMA), file=file)


def test_nothing_set_means_defaults(tmp_path: Path) -> None:
    """
    An empty file is a valid one.
    """
    assert Worker() == worker_of(tmp_path, "")


def test_every_kind_of_value_is_typed(tmp_path: Path) -> None:
    """
    Text becomes what the class asks for: units, lists, choices, nested names.
    """
    text = """
worker:
  bulk_max_size: 500
  listen: 22:00
  compress: no
  memory: 2 MiB
  backoff: {init: 500ms, max: 5m}
  users: [alice, no]
  level: debug
  folder: /var/lib/x
"""
    expected = Worker(
        500, "22:00", False, Size(2 * 1024**2), Backoff(Duration(0.5), Duration(300)),
        ("alice", "no"), "debug", Path("/var/lib/x"),
    )  # fmt: skip
    assert expected == worker_of(tmp_path, text)


def test_dots_in_a_key_nest(tmp_path: Path) -> None:
    """
    `backoff.init: 2s` is what Filebeat's users write.
    """
    found = worker_of(tmp_path, "worker:\n  backoff.init: 2s\n  backoff.max: 9s\n")
    assert Backoff(Duration(2), Duration(9)) == found.backoff


def test_a_name_in_quotes_keeps_its_dots(tmp_path: Path) -> None:
    """
    Allocation periods and clusters may be called 2026.1; who forgets the quotes is told of them.
    """
    schema: dict[str, Any] = {"periods": dict[str, str]}
    file = tmp_path / "leadline.yaml"
    file.write_text("periods: {'2026.1': 2026-04..2026-09, \"2026.2\": 2026-10..2027-03}\n")
    found = {"2026.1": "2026-04..2026-09", "2026.2": "2026-10..2027-03"}
    assert found == load(schema, file=file).sections["periods"]
    file.write_text("periods: {2026.1: 2026-04..2026-09}\n")
    with pytest.raises(SettingsError, match="has a dot in quotes"):
        load(schema, file=file).sections["periods"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worker:\n  bulk_max_sice: 5\n", r"line 2: unknown setting worker.bulk_max_sice; did you"),
        ("wroker: {}\n", r"line 1: unknown section wroker; did you mean worker"),
        (
            "worker:\n  bulk_max_size: many\n",
            r"line 2: worker.bulk_max_size: 'many' is not a",
        ),
        ("worker:\n  memory: 5 apples\n", r"line 2: worker.memory: .* write it like 64KiB"),
        ("worker:\n  compress: maybe\n", r"line 2: worker.compress: 'maybe' is neither yes nor no"),
        ("worker:\n  level: loud\n", r"line 2: worker.level: 'loud' is none of info, debug"),
        ("worker:\n  listen: a\n  listen: b\n", r"line 3: listen is set twice, first at .* line 2"),
        ("worker: [1]\n", r"worker: wants `name: value`"),
        ("worker:\n  users: {a: b}\n", r"line 2: worker.users: wants a list"),
        ("worker:\n\t- x\n", r"line 2: not YAML"),
        ("- a\n", r"settings are `name: value` pairs"),
    ],
)
def test_mistake_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    """
    What, where, way out: the file, the line, and the nearest right thing.
    """
    with pytest.raises(SettingsError, match=message):
        load_text(tmp_path, text)


def test_later_files_and_overrides_win(tmp_path: Path) -> None:
    """
    conf.d comes after the file, --set after both; what they do not name stays.
    """
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "10-site.yaml").write_text("worker:\n  listen: b\n  level: debug\n")
    text = "worker:\n  listen: a\n  bulk_max_size: 7\n"
    found = worker_of(tmp_path, text, "worker.listen=c", "worker.users=[x, y]")
    assert (
        found.listen, found.level, found.bulk_max_size, found.users
    ) == ("c", "debug", 7, ("x", "y"))  # fmt: skip


def test_bad_override_is_named(tmp_path: Path) -> None:
    """
    An override's mistake is reported as the text that was typed.
    """
    with pytest.raises(SettingsError, match=r"--set worker.bulk=3: unknown setting worker.bulk"):
        load_text(tmp_path, "", "worker.bulk=3")
    with pytest.raises(SettingsError, match=r"section\.name=value"):
        load_text(tmp_path, "", "worker")


def test_missing_file_is_refused(tmp_path: Path) -> None:
    """
    A file that was named must be there.
    """
    with pytest.raises(SettingsError, match="no such settings file"):
        load(SCHEMA, file=tmp_path / "gone.yaml")


@given(st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_text_raises_only_settings_error(tmp_path_factory: Any, text: str) -> None:
    """
    Whatever stands in the file, the answer is settings or a SettingsError.
    """
    file = tmp_path_factory.mktemp("any") / "leadline.yaml"
    file.write_text(text, encoding="utf-8")
    try:
        load(SCHEMA, file=file)
    except SettingsError as error:
        assert "\n" not in str(error)  # noqa: PT017 - one line for people is the promise
