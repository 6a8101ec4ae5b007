"""The page's SQL sink against a real MariaDB: started here, on a socket in a folder of its own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import sqlalchemy

from leadline.commands.sections import built_in
from leadline.settings.plugins import PluginSettings, forget, install
from shipper.senders import build_sink
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import NotNow
from tests.needs import program
from tests.settings.test_plugins import put

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """
    A server without a port, and the address of its database.
    """
    for name in ("mariadbd", "mariadb-install-db"):
        program(name, package="mariadb-server")
    data, socket = tmp_path / "data", tmp_path / "sock"
    common = ["--no-defaults", "--user=root", f"--datadir={data}"]
    made = subprocess.run(
        ["mariadb-install-db", *common, "--auth-root-authentication-method=normal"],
        capture_output=True,
        timeout=100,
    )
    assert made.returncode == 0, made.stderr
    running = subprocess.Popen(
        ["mariadbd", *common, "--skip-networking", f"--socket={socket}", f"--pid-file={data}/pid"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        yield running, f"mysql+pymysql://root@localhost/test?unix_socket={socket}"
    finally:
        running.kill()
        running.wait()


def test_documents_become_rows_and_a_stopped_server_means_later(
    server: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    """
    What SQLite takes MariaDB takes too; while it is down the batch is kept, not lost.
    """
    running, url = server
    folder = tmp_path / "plugins"
    folder.mkdir()
    put(folder, "sinks/sql.py")
    engine = sqlalchemy.create_engine(url.replace("/test?", "/?"))
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE DATABASE IF NOT EXISTS test"))
    install(PluginSettings(folder, options={"sql": {"url": url}}), built_in)
    try:
        sink = build_sink(ShipSettings(sink="sql"), "c1")
        document = {"host.name": "c1", "process.command_line": "echo ü 'x'", "core_seconds": 3.5}
        lines = orjson.dumps(document) + b"\n"

        sink.send(lines * 3, 3)

        with engine.begin() as connection:
            found = connection.execute(sqlalchemy.text("SELECT document FROM test.samples")).all()
        assert [document] * 3 == [orjson.loads(text) for (text,) in found]
        engine.dispose()
        running.kill()
        running.wait()
        with pytest.raises(NotNow):
            sink.send(lines, 1)
        sink.close()
    finally:
        forget()
