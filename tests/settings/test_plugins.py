"""Plug-ins: loaded from a folder, refused when they cannot be what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from enrich.chain import build_chain
from enrich.rules import Rules
from enrich.step import Context
from leadline.alerts.notifiers import Message, NotNowError, build_notifier
from leadline.alerts.settings import NotifierSettings
from leadline.commands import cli
from leadline.commands.sections import built_in
from leadline.errors import SettingsError
from leadline.formats import Document
from leadline.settings.plugins import PluginSettings, forget, install, listed, options_of, plugged
from shipper.collectors.contract import UnavailableError
from shipper.senders import build_sink
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import NotNow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plugins.md"
EXAMPLES = dict(
    re.findall(r"^`(\w+/\w+\.py)`\n\n```python\n(.*?)```", PAGE.read_text(), re.M | re.S)
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """
    A folder of plug-ins; what was loaded from it is forgotten afterwards.
    """
    made = tmp_path / "plugins"
    made.mkdir()
    yield made
    forget()


def put(folder: Path, name: str, text: str | None = None) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(EXAMPLES[name] if text is None else text)
    return path


def load(folder: Path, **options: dict[str, str]) -> None:
    install(PluginSettings(folder, options=options), built_in)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_page_are_short_and_load(folder: Path, name: str) -> None:
    """
    Exactly what the page shows is loaded, and has less than 30 lines of code.
    """
    path = put(folder, name)

    load(folder)

    kind, _, file = name.partition("/")
    assert {file.removesuffix(".py"): str(path)} == listed()[kind]
    assert len([line for line in EXAMPLES[name].splitlines() if line.strip()]) < 30


def test_step_runs_in_the_chain(folder: Path) -> None:
    """
    After the built-in steps, on every document.
    """
    put(folder, "steps/shift.py")
    load(folder)

    chain = build_chain(Context(rules=Rules([])))

    assert "shift" == chain.steps[-1].name
    document: Document = {"dataset": "node", "cluster": "fox", "host.name": "c1"}
    document |= {"@timestamp": "2026-03-01T12:00:00.000Z", "labels": {"colour": "red"}}
    assert {"colour": "red", "shift": "day"} == chain.one(document)["labels"]


def test_sink_writes_to_a_database_by_its_options(folder: Path, tmp_path: Path) -> None:
    """
    Documents end as rows; a database that is gone means the same batch again later.
    """
    import sqlalchemy

    put(folder, "sinks/sql.py")
    load(folder, sql={"url": f"sqlite:///{tmp_path / 'samples.db'}"})
    sink = build_sink(ShipSettings(sink="sql"), "c1")
    document = {"@timestamp": "2026-03-01T12:00:00.000Z", "host.name": "c1", "core_seconds": 3.5}

    sink.send(orjson.dumps(document) + b"\n", 1)

    engine = sqlalchemy.create_engine(sink.target)
    with engine.begin() as connection:
        rows = connection.execute(sqlalchemy.text("SELECT document FROM samples")).all()
        connection.execute(sqlalchemy.text("DROP TABLE samples"))
    engine.dispose()
    assert [document] == [orjson.loads(text) for (text,) in rows]
    with pytest.raises(NotNow, match="no such table"):
        sink.send(orjson.dumps(document) + b"\n", 1)
    sink.close()


def test_collector_may_say_that_there_is_nothing_to_collect(folder: Path) -> None:
    """
    A machine without it is no error.
    """
    put(folder, "collectors/queue.py")
    load(folder)
    module = plugged("collectors")["queue"]
    module.QUEUE = folder / "nowhere"

    with pytest.raises(UnavailableError, match="nowhere is not there"):
        module.build(None)

    module.QUEUE = folder
    assert [{"dataset": "node", "labels": {"mails": "1"}}] == list(module.build(None)(None))


def test_reader_is_a_format_of_backfill(folder: Path, tmp_path: Path) -> None:
    """
    Chosen by name or by the file's head; read twice it changes nothing.
    """
    put(folder, "readers/joblog.py")
    log = tmp_path / "parallel.log"
    log.write_text(
        "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
        "1\t:\t1767225600.5\t12.5\t0\t0\t0\t0\tgzip a.fq\n"
        "2\t:\t1767225601.0\t3.0\t0\t0\t1\t0\tgzip b.fq\n"
    )
    options = ["--set", f"plugins.folder={folder}", "--set", f"paths.data={tmp_path / 'data'}"]

    def backfill(kind: str) -> str:
        words = ["backfill", kind, "--cluster", "fox", "--timezone", "UTC", str(log)]
        done = CliRunner().invoke(cli, [*options, *words])
        assert 0 == done.exit_code, done.output
        return done.output

    assert "read 2  inserted 2  updated 0  unchanged 0" in backfill("joblog")
    assert "read 2  inserted 0  updated 0  unchanged 2" in backfill("auto")


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("steps/program.py", "build = print", "name 'program' is taken by a built-in of steps"),
        ("sinks/http.py", "build = print", "name 'http' is taken by a built-in of sinks"),
        ("steps/empty.py", "x = 1", "it has no function build; docs/plugins.md shows what steps"),
        ("steps/torn.py", "def build(:", r"torn\.py: SyntaxError"),
        ("steps/gone.py", "import no_such_module", "ModuleNotFoundError: No module named"),
        ("stepps/a.py", "build = print", "no kind of plug-in; they are steps, readers, sinks"),
    ],
)
def test_broken_plugin_is_refused_by_file_and_reason(
    folder: Path, name: str, text: str, error: str
) -> None:
    """
    One line that says which file, and what is wrong with it.
    """
    put(folder, name, text)

    with pytest.raises(SettingsError, match=error):
        load(folder)


def test_file_anybody_may_write_is_refused(folder: Path) -> None:
    """
    It would run with the rights of the worker.
    """
    put(folder, "steps/shift.py").chmod(0o666)

    with pytest.raises(SettingsError, match="anybody may write to it; chmod o-w"):
        load(folder)


def test_missing_folder_is_told(tmp_path: Path) -> None:
    """
    A folder that is named has to be there.
    """
    with pytest.raises(SettingsError, match="nowhere is no folder; make it, or leave it out"):
        load(tmp_path / "nowhere")


def test_options_are_checked_by_the_plugin(folder: Path) -> None:
    """
    What a plug-in does not know is refused as any other setting.
    """
    put(folder, "sinks/sql.py")
    load(folder, sql={"ulr": "sqlite://"})

    with pytest.raises(SettingsError, match="ulr"):
        options_of("sql", plugged("sinks")["sql"].Options)


def test_settings_file_names_the_folder_and_the_plugin(folder: Path) -> None:
    """
    A plug-in may be chosen in the same file that names its folder; an unknown one is refused.
    """
    put(folder, "collectors/queue.py")
    config = folder / "leadline.yaml"
    config.write_text(f"plugins:\n  folder: {folder}\ncollect:\n  collectors: [node, queue]\n")

    done = CliRunner().invoke(cli, ["--config", str(config), "sample"])
    config.write_text("collect:\n  collectors: [node, queue]\n")
    refused = CliRunner().invoke(cli, ["--config", str(config), "sample"])

    assert 0 == done.exit_code, done.output
    assert "collector 'queue' is none of" in str(refused.exception)


def test_notifier_is_built_by_its_name(folder: Path) -> None:
    """
    Beside the built-in ones, whose names it may not take; its message waits when nobody listens.
    """
    put(folder, "notifiers/ntfy.py")
    load(folder, ntfy={"url": "http://127.0.0.1:1"})

    with pytest.raises(NotNowError):
        build_notifier("ntfy", NotifierSettings()).send(Message("1", "a", "b"), "nights")

    put(folder, "notifiers/smtp.py", "build = print")
    with pytest.raises(SettingsError, match="taken by a built-in of notifiers"):
        load(folder)
