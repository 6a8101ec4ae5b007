"""docker-compose.yml: understood by the real tool, secure by default, its commands real ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.test_up import free_port
from tests.needs import program

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
OURS = {
    name: service
    for name, service in COMPOSE["services"].items()
    if service.get("image") == "leadline"
}


def compose_tool() -> list[str]:
    return [program("docker-compose", package="docker-compose")]


@pytest.mark.parametrize("profile", [[], ["--profile", "three"]], ids=["one", "three"])
def test_real_tool_takes_the_file(profile: list[str]) -> None:
    """
    docker-compose itself reads it, with the profile and without.
    """
    command = [*compose_tool(), "--file", str(ROOT / "docker-compose.yml"), *profile, "config"]
    done = subprocess.run([*command, "--services"], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    assert set(OURS) <= set(done.stdout.split())


def test_one_node_or_three() -> None:
    """
    One OpenSearch node by default; the profile `three` adds two.
    """
    nodes = {n: s for n, s in COMPOSE["services"].items() if n.startswith("opensearch")}
    assert ["opensearch"] == [name for name, service in nodes.items() if "profiles" not in service]
    assert 2 == sum(service.get("profiles") == ["three"] for service in nodes.values())


def test_nothing_is_open_to_the_network_and_no_secret_is_written_down() -> None:
    """
    Ports are bound to this machine; passwords come from files made on the first start.
    """
    for name, service in COMPOSE["services"].items():
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), name
        assert "PASSWORD" not in json.dumps(service.get("environment", {})), name
    for name, service in OURS.items():
        assert ["ALL"] == service["cap_drop"], name


def test_secrets_are_made_once(tmp_path: Path) -> None:
    """
    The first start makes passwords and certificates that fit together; a second keeps them.
    """
    program("openssl", package="openssl")
    folder = tmp_path / "secrets"
    script = [str(ROOT / "deploy" / "init.sh"), str(folder)]
    subprocess.run(script, check=True, capture_output=True)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    subprocess.run(script, check=True, capture_output=True)
    again = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert first == again
    assert len(first["admin.password"]) > 30
    assert first["admin.password"] != first["shipper.token"]
    verify = ["openssl", "verify", "-CAfile", str(folder / "ca.pem"), str(folder / "node.pem")]
    assert 0 == subprocess.run(verify, capture_output=True).returncode


class Services:
    """
    The services of ours as the file starts them, without Docker: same commands, other ports.
    """

    def __init__(self, folder: Path, store: str) -> None:
        self.folder = folder
        self.ports = {"8460": str(free_port()), "8470": str(free_port())}
        token = folder / "shipper.token"
        token.write_text("a-token-for-this-test\n")
        settings = yaml.safe_load((ROOT / "deploy" / "leadline.yaml").read_text())
        settings["store"] = {"address": f"opensearch={store}"}
        settings["clusters"]["home"]["token_file"] = settings["ship"]["token_file"] = str(token)
        settings["opensearch"] = {"refresh": "1s"}
        settings["ship"]["interval"] = "2s"
        self.config = folder / "leadline.yaml"
        self.config.write_text(yaml.safe_dump(settings))
        self.running: list[subprocess.Popen[str]] = []

    def command(self, name: str) -> list[str]:
        words = [str(word) for word in OURS[name]["command"]]
        words = [w.replace("/etc/leadline/leadline.yaml", str(self.config)) for w in words]
        words = [w.replace("0.0.0.0", "127.0.0.1") for w in words]
        for old, new in self.ports.items():
            words = [word.replace(old, new) for word in words]
        return [sys.executable, "-m", "leadline.commands", *words]

    def environment(self, name: str) -> dict[str, str]:
        return {**os.environ, "LEADLINE_DATA": str(self.folder / name)}

    def run(self, name: str) -> str:
        done = subprocess.run(
            self.command(name), env=self.environment(name), capture_output=True, text=True
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout

    def start(self, name: str) -> None:
        with (self.folder / f"{name}.log").open("w") as log:
            self.running.append(
                subprocess.Popen(
                    self.command(name),
                    env=self.environment(name),
                    stdout=log,
                    stderr=log,
                    text=True,
                )
            )

    def get(self, port: str, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[port]}{path}", timeout=10) as a:
            text: str = a.read().decode()
            return text

    def logs(self) -> str:
        return "\n".join(path.read_text()[-600:] for path in self.folder.glob("*.log"))


@pytest.fixture
def services(tmp_path: Path, opensearch: str) -> Iterator[Services]:
    found = Services(tmp_path, opensearch)
    yield found
    for process in found.running:
        process.terminate()
    for process in found.running:
        process.wait(30)
    request = urllib.request.Request(f"{opensearch}/leadline-*", method="DELETE")
    urllib.request.urlopen(request, timeout=30)


def wait_for(services: Services, wanted: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    last: object = None
    while time.monotonic() < end:
        try:
            if wanted():
                return
        except OSError as error:
            last = error
        time.sleep(0.3)
    pytest.fail(f"{last}\n{services.logs()}")


@pytest.mark.opensearch
def test_services_work_together_without_docker(services: Services) -> None:
    """
    setup, worker, web and shipper, started by the file's own commands on a real OpenSearch, end
    in a page that shows this machine.
    """
    services.run("setup")
    for name in ("worker", "web"):
        services.start(name)
    wait_for(services, lambda: services.get("8460", "/healthz"), 40)
    services.start("shipper")
    wait_for(services, lambda: "core hours used" in services.get("8470", "/"), 60)
