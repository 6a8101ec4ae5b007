"""
Elasticsearch through the same REST calls, on a server that pretends to be one: it cannot be had
here, so what is checked is what goes over the wire.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime

from leadline.store.opensearch.store import OpenSearchStore
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING
from tests.store.documents import process
from tests.store.opensearch.scripted import ELASTICSEARCH, Asked, Reply, scripted


def test_bulk_is_what_elasticsearch_wants() -> None:
    """
    Newline-delimited JSON to /_bulk under its content type, with the API key, and no call that
    only a product check would make.
    """
    with scripted(version=ELASTICSEARCH) as server:
        store = OpenSearchStore([server.url], api_key="aWQ6a2V5")
        outcome = store.write([process(1), process(2)], "create")
        store.close()
        (call,) = server.calls("POST", "/_bulk")
        paths = {asked.path for asked in server.asked}
    assert outcome.accepted == 2
    assert call.headers["content-type"] == "application/x-ndjson"
    assert call.headers["authorization"] == "ApiKey aWQ6a2V5"
    assert call.body.endswith(b"}\n")
    assert paths == {
        "/",
        "/_bulk",
        "/leadline-process-2026.11",
        "/_index_template/leadline-process",
    }


def test_an_index_is_dated_by_its_origination() -> None:
    """
    Elasticsearch counts ages from the origination date, which monthly names cannot tell it.
    """
    with scripted(version=ELASTICSEARCH) as server:
        store = OpenSearchStore([server.url])
        store.write([process(1)], "create")
        store.close()
        (call,) = server.calls("PUT", "/leadline-process")
    end = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp() * 1000)
    assert call.lines == [{"settings": {"index.lifecycle.origination_date": end}}]
    assert not server.calls("POST", "/_plugins")


def test_a_question_uses_what_both_engines_know() -> None:
    """
    Composite aggregations page by after_key; the answer is read as it comes.
    """
    keys = iter([{"g0": "alice"}, {"g0": "bob"}])

    def answer(asked: Asked) -> Reply:
        if not asked.path.endswith("/_search"):
            return 0, None
        key = next(keys)
        stats = {"count": 1, "sum": 3600.0, "min": 3600.0, "max": 3600.0}
        bucket = {"key": key, "doc_count": 1, "a0": stats}
        return 200, {"hits": {}, "aggregations": {"rows": {"after_key": key, "buckets": [bucket]}}}

    with scripted(others=answer, version=ELASTICSEARCH) as server:
        store = OpenSearchStore([server.url])
        seconds = Aggregate("seconds", Function.SUM, "core_seconds")
        rows = store.ask(Plan("process", (seconds,), by=(Group("user.name"),)), EVERYTHING)
        store.close()
        (call,) = server.calls("POST", "/leadline-process-*/_search")
    assert rows == [{"user.name": "alice", "seconds": 3600.0}]
    composite = call.lines[0]["aggs"]["rows"]["composite"]
    assert composite["sources"] == [
        {"g0": {"terms": {"field": "user.name", "missing_bucket": True}}}
    ]
    assert "allow_partial_search_results=false" in call.query


def test_a_password_travels_as_basic_authentication() -> None:
    """
    User and password from the settings, or from the address.
    """
    expected = "Basic " + b64encode(b"leadline:s3cret").decode()
    with scripted(version=ELASTICSEARCH) as server:
        store = OpenSearchStore([server.url], username="leadline", password="s3cret")
        store.write([process(1)], "create")
        store.close()
        assert server.asked[-1].headers["authorization"] == expected
        address = server.url.replace("//", "//leadline:s3cret@")
        store = OpenSearchStore([address])
        store.write([process(1)], "create")
        store.close()
        assert server.asked[-1].headers["authorization"] == expected


def test_compressed_bodies_say_so() -> None:
    """
    gzip for a remote engine behind a slow line.
    """
    import gzip

    from leadline.store.opensearch.settings import OpenSearchSettings

    def unpack(asked: Asked) -> Reply:
        asked.body = gzip.decompress(asked.body)
        return 200, {"errors": False, "items": [{"create": {"status": 201}}]}

    def others(asked: Asked) -> Reply:
        return 0, None

    with scripted(unpack, others, ELASTICSEARCH) as server:
        store = OpenSearchStore([server.url], settings=OpenSearchSettings(compress=True))
        outcome = store.write([process(1)], "create")
        store.close()
        (call,) = server.calls("POST", "/_bulk")
    assert outcome.accepted == 1
    assert call.headers["content-encoding"] == "gzip"
    assert call.lines[1] == process(1)
