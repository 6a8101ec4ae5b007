"""
The one door to the engine: opensearch-py's transport with ready-made bytes, and its many ways to
fail turned into one answer. Plain REST calls only, so that Elasticsearch takes them as well; its
own client would refuse to talk to OpenSearch, and the other way round.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from leadline.errors import StoreError

NDJSON = {"content-type": "application/x-ndjson"}
UNREACHABLE = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What came back: a status (0: nobody answered) and the parsed body.
    """

    status: int
    body: Any
    trouble: str = ""  # of the connection, for people

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def kind(self) -> str:
        """
        The engine's name for what went wrong, index_not_found_exception and the like.
        """
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return str(error.get("type", "")) if isinstance(error, dict) else ""

    @property
    def reason(self) -> str:
        if self.trouble:
            return self.trouble
        error = self.body.get("error", self.body) if isinstance(self.body, dict) else self.body
        return f"{self.status} {explain(error)}"


def explain(error: object) -> str:
    """
    An engine's error in one line, the root causes included.
    """
    if not isinstance(error, dict):
        return str(error)[:500]
    parts = [f"{error.get('type', '')}: {error.get('reason', '')}".strip(": ")]
    causes: list[object] = [error.get("caused_by")]
    causes += [shard.get("reason") for shard in error.get("failed_shards", [])[:1]]
    parts += [explain(cause) for cause in causes if isinstance(cause, dict)]
    return "; ".join(dict.fromkeys(part for part in parts if part))[:1000]


@dataclass(frozen=True, slots=True)
class Engine:
    """
    Which engine answers, and what it can.
    """

    name: str  # opensearch or elasticsearch
    version: tuple[int, ...]

    @property
    def elasticsearch(self) -> bool:
        return self.name == "elasticsearch"

    @property
    def takes_creation_date(self) -> bool:
        return not self.elasticsearch and self.version >= (3, 4)

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.version))}"


class Serializer:
    """
    Bytes pass as they are; everything else is JSON by orjson.
    """

    mimetype = "application/json"

    def loads(self, data: str) -> Any:
        return orjson.loads(data)

    def dumps(self, data: Any) -> bytes:
        return data if isinstance(data, bytes) else orjson.dumps(data)


class Client:
    """
    Requests over a pool of kept connections to one or several hosts.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        *,
        username: str = "",
        password: str = "",
        api_key: str = "",
        ca_file: Path | None = None,
        verify: bool = True,
        compress: bool = False,
        timeout: float = 60,
        connections: int = 4,
    ) -> None:
        from opensearchpy import Transport
        from opensearchpy.connection import Urllib3HttpConnection

        logging.getLogger("opensearch").setLevel(logging.CRITICAL)  # our errors say it once
        options: dict[str, Any] = {"pool_maxsize": connections, "http_compress": compress}
        if username:
            options["http_auth"] = (username, password)
        if api_key:
            options["headers"] = {"authorization": f"ApiKey {api_key}"}
        secure: dict[str, object] = {"verify_certs": verify, "ssl_show_warn": False}
        if ca_file:
            secure["ca_certs"] = str(ca_file)
        serializer: Any = Serializer()
        self.hosts = tuple(hosts)
        self.timeout = timeout
        self.transport = Transport(
            [host_options(host, secure) for host in hosts],
            connection_class=Urllib3HttpConnection,
            serializer=serializer,
            max_retries=len(hosts) - 1,  # another host at once; the same one again is our matter
            retry_on_status=(),
            timeout=timeout,
            **options,
        )

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        **params: object,
    ) -> Answer:
        """
        One call. Never raises for what the engine or the network says.
        """
        from opensearchpy.exceptions import OpenSearchException, TransportError

        wanted = {name: as_text(value) for name, value in params.items() if value is not None}
        try:
            status, parsed = (
                200,
                self.transport.perform_request(
                    method,
                    path,
                    params={**wanted, "request_timeout": timeout or self.timeout},
                    body=body,
                    headers=headers,
                ),
            )
        except TransportError as error:
            if not isinstance(error.status_code, int):
                return Answer(UNREACHABLE, None, f"{', '.join(self.hosts)}: {plain(error)}")
            return Answer(error.status_code, error.info if error.info else {"error": error.error})
        except OpenSearchException as error:
            return Answer(UNREACHABLE, None, f"{', '.join(self.hosts)}: {error}")
        return Answer(404, None) if parsed is False else Answer(status, parsed)

    def get(self, path: str, body: object = None, **params: Any) -> Any:
        return self.demand("GET", path, body, **params)

    def post(self, path: str, body: object = None, **params: Any) -> Any:
        return self.demand("POST", path, body, **params)

    def put(self, path: str, body: object, **params: Any) -> Any:
        return self.demand("PUT", path, body, **params)

    def demand(self, method: str, path: str, body: object = None, **params: Any) -> Any:
        """
        The parsed answer; anything but success is a StoreError.
        """
        answer = self.request(method, path, body, **params)
        if not answer.ok:
            raise StoreError(f"{method} {path.split('?')[0]}: {answer.reason}{way_out(answer)}")
        return answer.body

    @cached_property
    def engine(self) -> Engine:
        version = self.get("/")["version"]
        number = str(version["number"]).split("-")[0]
        return Engine(
            str(version.get("distribution", "elasticsearch")),
            tuple(int(part) for part in number.split(".")),
        )

    def close(self) -> None:
        self.transport.close()


def host_options(address: str, secure: Mapping[str, object]) -> dict[str, object]:
    parts = urlsplit(address if "//" in address else f"http://{address}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise StoreError(f"{address!r} is no address of a store; write https://host:9200")
    options: dict[str, object] = {
        "host": parts.hostname,
        "port": parts.port or (443 if parts.scheme == "https" else 9200),
        "scheme": parts.scheme,
        "use_ssl": parts.scheme == "https",
    }
    if parts.path.strip("/"):
        options["url_prefix"] = parts.path.strip("/")
    if parts.username:
        options["http_auth"] = (parts.username, parts.password or "")
    return options | (dict(secure) if parts.scheme == "https" else {})


def as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def plain(error: Exception) -> str:
    text = str(getattr(error, "error", error))
    return text.rpartition("): ")[2] or text


def way_out(answer: Answer) -> str:
    """
    What a person can do about an error, where we know.
    """
    if answer.status == UNREACHABLE:
        return "; is it running, and is its address right?"
    if answer.status == 401:
        return "; set store.username and store.password_file, or store.api_key_file"
    if answer.status == 403:
        return "; this account may not: docs/opensearch.md lists the privileges it needs"
    return ""
