"""The examples for nginx and Apache, really run: TLS, a path, who signs in, and what is forged."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.deploy.servers import ROOT, Answer, free_port, get, site, started, until
from tests.needs import lacking, program

DEPLOY = ROOT / "deploy"
NAME = "stats.example.org"
PASSWORD = "open sesame"
TOKENS = "scraper-of-the-site metrics\nscript-of-alice-here as alice\n"
MODULES = (
    "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic",
    "alias", "deflate", "filter", "headers", "proxy", "proxy_http", "ssl", "wsgi",
)  # fmt: skip


@dataclass(frozen=True)
class Front:
    """
    A web server, as its readers reach it.
    """

    port: int
    certificate: Path

    def get(self, path: str, user: str = "", **headers: str) -> Answer:
        told = {"Host": f"{NAME}:{self.port}"}
        if user:
            pair = base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
            told["Authorization"] = f"Basic {pair}"
        told |= headers
        return get(f"https://127.0.0.1:{self.port}{path}", told, trusted=self.certificate)


def changed(name: str, changes: dict[str, str]) -> str:
    """
    An example with the names and paths of the test in it, and nothing else changed.
    """
    text = (DEPLOY / name).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"deploy/{name} says nothing of {old}"
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A certificate of our own making, and who may sign in: alice, bjorn and root.
    """
    folder = tmp_path_factory.mktemp("fronts")
    openssl = program("openssl", package="openssl")
    words = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    subject = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-days", "2")
    pair = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
    subprocess.run([openssl, *words, *subject, *pair], check=True, capture_output=True)
    sha = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
    users = "".join(f"{name}:{{SHA}}{sha}\n" for name in ("alice", "bjorn", "root"))
    (folder / "users").write_text(users)
    (folder / "tokens").write_text(TOKENS)
    return folder


@pytest.fixture(scope="module")
def behind(folder: Path) -> Iterator[str]:
    """
    The socket of our own server, which two processes serve; nobody else may open it.
    """
    within = folder / "behind"
    within.mkdir()
    web = {"prefix": "/leadline", "proxies": 1, "access": "proxy", "admins": ["root"]}
    web["tokens_file"] = str(folder / "tokens")
    path = within / "web.sock"
    config = site(within, **web, listen=f"unix:{path}", processes=2, remember="1h")
    words = (sys.executable, "-m", "leadline.commands", "serve")
    with started(*words, LEADLINE_CONFIG=str(config)) as server:
        until(path.is_socket, server, "leadline serve")
        assert path.stat().st_mode & 0o777 == 0o660
        taken = subprocess.run(
            words, env={**os.environ, "LEADLINE_CONFIG": str(config)}, capture_output=True
        )
        assert b"somebody serves there already" in taken.stderr
        yield str(path)


@contextmanager
def nginx(folder: Path, behind: str) -> Iterator[Front]:
    binary, port = program("nginx", "/usr/sbin/nginx", package="nginx-light"), free_port()
    text = changed(
        "nginx.conf",
        {
            "listen 443": f"listen 127.0.0.1:{port}",
            "/etc/ssl/leadline": str(folder),
            "/etc/nginx/leadline.users": str(folder / "users"),
            "/run/leadline/web.sock": behind,
        },
    )
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    owner = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; {owner} worker_processes 1; pid {folder}/nginx.pid;\n"
        f"error_log {folder}/nginx.log; events {{}}\n"
        f"http {{ access_log off;\n{temporary}\n{text}\n}}\n"
    )
    words = (binary, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/nginx.log")
    with started(*words) as server:
        front = Front(port, folder / "cert.pem")
        until(lambda: front.get("/leadline/healthz", "root")[0] == 200, server, "nginx")
        yield front


@contextmanager
def apache(folder: Path, text: str, config: Path, name: str) -> Iterator[Front]:
    """
    Apache in the foreground. As root it would become somebody who may not read our files; so it
    is somebody else from the beginning, who may.
    """
    binary = program("apache2", "/usr/sbin/apache2", package="libapache2-mod-wsgi-py3")
    modules, port = Path("/usr/lib/apache2/modules"), free_port()
    if not (modules / "mod_wsgi.so").exists():
        lacking("mod_wsgi is missing: apt-get install libapache2-mod-wsgi-py3")
    loaded = (f"LoadModule {m}_module {modules}/mod_{m}.so" for m in MODULES)
    head = (
        f"ServerRoot {folder}", f"PidFile {folder}/{name}.pid", f"ErrorLog {folder}/{name}.log",
        f"DefaultRuntimeDir {folder}", f"ServerName {NAME}", f"Listen 127.0.0.1:{port}", *loaded,
        f"WSGISocketPrefix {folder}/wsgi" if "\n    WSGIDaemonProcess" in text else "",
    )  # fmt: skip
    file = folder / f"{name}.conf"
    file.write_text("\n".join((*head, text.replace("*:443", f"127.0.0.1:{port}"))))
    drop: tuple[str, ...] = ()
    if os.geteuid() == 0:
        folder.chmod(0o777)
        rights = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")
        drop = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *rights)
    words = (*drop, binary, "-DFOREGROUND", "-f", str(file))
    with started(*words, LEADLINE_CONFIG=str(config)) as server:
        front = Front(port, folder / "cert.pem")
        until(lambda: front.get("/leadline/healthz", "root")[0] == 200, server, name)
        yield front


@contextmanager
def apache_proxy(folder: Path, behind: str) -> Iterator[Front]:
    text = changed(
        "apache-proxy.conf",
        {
            "/etc/ssl/leadline": str(folder),
            "/etc/apache2/leadline.users": str(folder / "users"),
            "/run/leadline/web.sock": behind,
        },
    )
    with apache(folder, text, folder / "none", "apache-proxy") as front:
        yield front


@contextmanager
def apache_wsgi(folder: Path, _behind: str) -> Iterator[Front]:
    with TemporaryDirectory() as open_to_all:
        within = Path(open_to_all)
        within.chmod(0o755)  # mod_wsgi asks by access(2), where no right of ours counts
        with _wsgi(folder, within) as front:
            yield front


@contextmanager
def _wsgi(folder: Path, within: Path) -> Iterator[Front]:
    text = changed(
        "apache.conf",
        {
            "/etc/ssl/leadline": str(folder),
            "/etc/apache2/leadline.users": str(folder / "users"),
            " user=leadline group=leadline": "",
            "/var/lib/leadline": str(within),
            "/opt/leadline": str(home(within)),
            "/etc/leadline/leadline.wsgi": str(DEPLOY / "leadline.wsgi"),
        },
    )
    web = {"access": "proxy", "user_header": "REMOTE_USER", "admins": ["root"], "remember": "1h"}
    web["tokens_file"] = str(folder / "tokens")
    with apache(folder, text, site(within, **web), "apache") as front:
        yield front


def home(within: Path) -> Path:
    """
    An environment of the Python that mod_wsgi was made with, which has what this one has.
    """
    minor = "{}.{}".format(*sys.version_info)
    if not Path(f"/usr/lib/apache2/modules/mod_wsgi.so-{minor}").exists():
        lacking(f"mod_wsgi of Python {minor} is missing: it must be the one leadline runs with")
    python = program(f"/usr/bin/python{minor}", package=f"python{minor}")
    made = within / "opt"
    subprocess.run([python, "-m", "venv", "--without-pip", str(made)], check=True)
    packages = next(p for p in sys.path if p.endswith("site-packages"))
    ours = made / "lib" / f"python{minor}" / "site-packages" / "ours.pth"
    ours.write_text(f"import site; site.addsitedir({packages!r})\n{ROOT}\n")
    return made


FRONTS = {"nginx": nginx, "apache": apache_proxy, "mod_wsgi": apache_wsgi}


@pytest.fixture(scope="module", params=list(FRONTS))
def front(request: pytest.FixtureRequest, folder: Path) -> Iterator[Front]:
    with ExitStack() as stack:
        behind = "" if request.param == "mod_wsgi" else request.getfixturevalue("behind")
        yield stack.enter_context(FRONTS[request.param](folder, behind))


def test_pages_lie_below_the_path(front: Front) -> None:
    """
    Every link, script and style of a page leads below /leadline, and what it leads to is there.
    """
    status, headers, page = front.get("/leadline/usage?by=user", "root")
    assert status == 200, page
    assert {"bjorn", "alice"} <= set(re.findall("bjorn|alice", page))
    assert headers["Strict-Transport-Security"].startswith("max-age")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    links = re.findall(r'(?:href|src|action)="(/[^"]*)"', page)
    assert len(links) > 20
    assert all(link.startswith("/leadline/") for link in links)
    for name in ("leadline.css", "leadline.js"):
        assert front.get(f"/leadline/static/{name}", "root")[0] == 200
    assert front.get("/leadline/?lang=fr", "root")[1]["Set-Cookie"].endswith(
        "Secure; HttpOnly; Path=/leadline; SameSite=Lax"
    )


def test_each_sees_her_own(front: Front) -> None:
    """
    Who signs in at the web server is who the pages know.
    """
    question = "/leadline/api/v1/usage?by=user&period=last+7+days"
    for name in ("alice", "bjorn"):
        told = front.get(question, name)[2]
        assert re.findall("alice|bjorn|dag", told) == [name]
    assert len(set(re.findall("alice|bjorn|dag", front.get(question, "root")[2]))) == 3


@pytest.mark.parametrize(
    "header", ["X-Remote-User", "X_Remote_User", "x-remote-user", "Remote-User", "REMOTE_USER"]
)
def test_a_forged_name_is_dropped(front: Front, header: str) -> None:
    """
    A name in a header from outside opens nothing, and makes nobody another.
    """
    question = "/leadline/api/v1/usage?by=user&period=last+7+days"
    assert front.get(question, **{header: "root"})[0] == 401
    told = front.get(question, "alice", **{header: "root"})
    assert told[0] == 200
    assert re.findall("alice|bjorn|dag", told[2]) == ["alice"]
    assert front.get(question, Authorization="Bearer root", **{header: "root"})[0] == 401


@pytest.mark.parametrize(
    "forged",
    [
        {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"},
        {"X-Forwarded-Prefix": "//evil.example", "X-Script-Name": "//evil.example"},
        {"SCRIPT_NAME": "//evil.example", "PATH_INFO": "/evil"},
        {"X-Forwarded-For": "evil.example", "X-Forwarded-Proto": "evil"},
        {"X-Original-URL": "/evil", "X-Rewrite-URL": "/evil"},
    ],
)
def test_forged_forwarding_changes_no_link(front: Front, forged: dict[str, str]) -> None:
    """
    Pages lead where they led before, whatever a reader says that a proxy said.
    """
    assert front.get("/leadline/usage?by=user", "root", **forged)[0] == 200
    honest = front.get("/leadline/nodes?lang=en", "root")
    told = front.get("/leadline/nodes?lang=en", "root", **forged)
    assert (told[0], "evil" in told[2]) == (200, False)
    links = re.compile(r'(?:href|src|action)="[^"]*"')
    assert links.findall(told[2]) == links.findall(honest[2])
    assert "Secure" in told[1]["Set-Cookie"]


def test_programs_show_a_token(front: Front) -> None:
    """
    Prometheus and scripts pass the sign-in with a token, and see what it opens.
    """
    scraper = {"Authorization": "Bearer scraper-of-the-site"}
    assert "leadline_up 1" in front.get("/leadline/metrics", **scraper)[2]
    assert front.get("/leadline/api/v1/constants", **scraper)[0] == 200
    assert front.get("/leadline/usage", **scraper)[0] == 403
    question = "/leadline/api/v1/usage?by=user&period=last+7+days"
    forged = {"X-Remote-User": "root", "Authorization": "Bearer script-of-alice-here"}
    assert re.findall("alice|bjorn|dag", front.get(question, **forged)[2]) == ["alice"]
    assert front.get("/leadline/metrics", Authorization="Bearer nobody")[0] == 401


@pytest.mark.parametrize("name", ["evil.example", "stats.example.org.evil.example", "127.0.0.1"])
def test_no_other_name(front: Front, name: str) -> None:
    """
    The web server hands on what is for the site's own name, and nothing else.
    """
    assert front.get("/leadline/", "root", Host=name)[0] in (403, 421)


@pytest.mark.parametrize("path", ["/", "/etc/passwd", "/leadlines/", "/leadline/../etc/passwd"])
def test_nothing_else_is_served(front: Front, path: str) -> None:
    """
    What is not below the path is not ours, dots and slashes or not.
    """
    status, _, told = front.get(path, "root")
    assert status in (400, 403, 404) or "leadline" not in told


@pytest.mark.parametrize("path", ["/leadline/..%2f..%2fetc/passwd", "/leadline/static/%2e%2e/x"])
def test_dots_lead_nowhere(front: Front, path: str) -> None:
    """
    A coded way out of a folder ends at a page that is not there.
    """
    assert front.get(path, "root")[0] in (400, 403, 404)


def test_pages_travel_packed(front: Front) -> None:
    """
    Who takes gzip gets it, with an ETag that is known again afterwards.
    """
    asked = "/leadline/api/v1/measures"
    plain = front.get(asked, "root")
    status, headers, _ = front.get(asked, "root", **{"Accept-Encoding": "gzip"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert "Accept-Encoding" in headers["Vary"]
    for known in (headers["ETag"], plain[1]["ETag"]):
        again = front.get(asked, "root", **{"If-None-Match": known, "Accept-Encoding": "gzip"})
        assert again[0] == 304
