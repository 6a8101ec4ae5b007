"""
A real OpenSearch node with its real security plug-in, TLS and accounts, for tests of roles.
"""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.store.opensearch import OpenSearchStore
from leadline.store.opensearch.artifacts import resolve
from leadline.store.opensearch.node import Node
from leadline.store.opensearch.settings import OpenSearchSettings

PLUGIN = "org.opensearch.plugin:opensearch-security:3.4.0.0:zip"
SHA512 = (
    "aad7c7fb11d17fe6866d93b05a2d3eb581d43c29bd4455371943efe5cfe2f6b0"
    "c6003597e45e2dd8b676fe4f88d677e24b055207ab5d6cfc7bb57a45a608b09a"
)
# It comes with the rule framework, which the plug-in extends and which is no artifact.
JAR = "org.apache.commons:commons-collections4:4.4:jar"
JAR_SHA512 = (
    "5939c9931eb9557caee3b45fe1dd9ce54cabdc4e6182ed7faac77e1a866dd0cb"
    "602bfa4ece2f3316d769913366106bd2b61bf3bb5faad1fa7d808124c06dec0f"
)
PASSWORD = "Sounding-7-fathoms!"
SECURE = {
    "plugins.security.ssl.transport.pemcert_filepath": "node.pem",
    "plugins.security.ssl.transport.pemkey_filepath": "node.key",
    "plugins.security.ssl.transport.pemtrustedcas_filepath": "ca.pem",
    "plugins.security.ssl.transport.enforce_hostname_verification": "false",
    "plugins.security.ssl.http.enabled": "true",
    "plugins.security.ssl.http.pemcert_filepath": "node.pem",
    "plugins.security.ssl.http.pemkey_filepath": "node.key",
    "plugins.security.ssl.http.pemtrustedcas_filepath": "ca.pem",
    "plugins.security.ssl.http.clientauth_mode": "OPTIONAL",
    "plugins.security.allow_default_init_securityindex": "true",
    "plugins.security.audit.type": "noop",
    "plugins.security.compliance.salt": "e1ukloTsQlOgPquK",
}


def plugin() -> Path:
    return resolve(PLUGIN, SHA512)


class SecureNode(Node):
    """
    Reached by HTTPS with passwords; `admin` is the certificate that may do anything.
    """

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.http_port}"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    def prepare(self) -> None:
        """
        Certificates, and the plug-in's own first configuration.
        """
        self.config.mkdir(parents=True)
        certificates(self.config)
        self.plugins = {plugin(): (resolve(JAR, JAR_SHA512),)}
        lists: Any = {
            "plugins.security.authcz.admin_dn": ["CN=admin"],
            "plugins.security.nodes_dn": ["CN=node"],
            "plugins.security.restapi.roles_enabled": ["all_access"],
        }
        self.settings = {**SECURE, **lists}
        found = self.config / "found"
        shutil.unpack_archive(plugin(), found, "zip")
        shutil.copytree(found / "config", self.config / "opensearch-security")
        shutil.rmtree(found)

    def await_health(self, deadline: float, status: str = "yellow", nodes: int = 1) -> None:
        self.until(self.initialised, deadline, "the plug-in is not initialised")

    def initialised(self) -> bool:
        try:
            return "all_access" in self.as_admin("GET", "/_plugins/_security/api/roles/all_access")
        except (OSError, ValueError):
            return False

    def as_admin(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        context = ssl.create_default_context(cafile=str(self.config / "ca.pem"))
        context.load_cert_chain(self.config / "admin.pem", self.config / "admin.key")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return json.load(answer)

    def account(self, name: str, *backend_roles: str, role: str = "") -> None:
        body = {"password": PASSWORD, "backend_roles": list(backend_roles)}
        more = {"opendistro_security_roles": [role]} if role else {}
        self.as_admin("PUT", f"/_plugins/_security/api/internalusers/{name}", {**body, **more})

    def store(self, name: str, prefix: str) -> OpenSearchStore:
        """
        The store as this account reaches it.
        """
        return OpenSearchStore(
            [self.url],
            prefix=prefix,
            settings=OpenSearchSettings(refresh="1s"),
            username=name,
            password=PASSWORD,
            ca_file=self.config / "ca.pem",
        )


def certificates(folder: Path) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    make += ["-nodes", "-days", "2"]
    for name in ("ca", "node", "admin"):
        signed = [] if name == "ca" else ["-CA", "ca.pem", "-CAkey", "ca.key"]
        signed += ["-addext", "subjectAltName=IP:127.0.0.1"] if name == "node" else []
        signed += ["-addext", "basicConstraints=CA:FALSE"] if name != "ca" else []
        words = [*make, *signed, "-subj", f"/CN={name}", "-keyout", f"{name}.key"]
        words += ["-out", f"{name}.pem"]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)


def wait_until(true: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)
