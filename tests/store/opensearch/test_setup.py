"""
`leadline setup` on the engine: idempotent, careful, and it says what it does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from leadline.errors import StoreError
from leadline.settings.common import RetentionSettings
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.lifecycle import MANAGED_BY
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up
from tests.store.opensearch.scripted import ELASTICSEARCH, Asked, Reply, scripted

PREFIX = "setuptest"
RETENTION = RetentionSettings()


@pytest.fixture
def client(opensearch: str) -> Iterator[Client]:
    client = Client([opensearch])
    name = "action.auto_create_index"
    before = client.get("/_cluster/settings", flat_settings=True)["persistent"].get(name)
    yield client
    for kind in ("", "_index_template/", "_component_template/"):
        client.request("DELETE", f"/{kind}{PREFIX}-*")
    client.put("/_cluster/settings", {"persistent": {name: before}})
    client.close()


def nothing_yet(asked: Asked) -> dict[str, object]:
    return {"persistent": {}} if asked.path == "/_cluster/settings" else {}


def again(client: Client, settings: OpenSearchSettings | None = None, **options: bool) -> list[str]:
    return set_up(client, PREFIX, settings or OpenSearchSettings(), RETENTION, **options)


@pytest.mark.opensearch
def test_setup_twice_changes_once(client: Client) -> None:
    """
    The first run installs everything, the second finds nothing to do.
    """
    told = again(client, dry_run=True)
    assert client.request("GET", f"/_index_template/{PREFIX}-process").status == 404
    assert again(client) == told
    assert any("index template setuptest-process: install" in line for line in told)
    assert again(client) == []


@pytest.mark.opensearch
def test_only_what_differs_is_replaced(client: Client) -> None:
    """
    Another refresh interval touches the one template that holds it.
    """
    again(client)
    changed = again(client, OpenSearchSettings(refresh="5s"))
    assert changed == ["component template setuptest-settings: replace"]


@pytest.mark.opensearch
def test_stray_writes_make_no_index_of_ours(client: Client) -> None:
    """
    Auto-creation is off for our names and stays on for everybody else's.
    """
    again(client)
    ours = client.request("POST", f"/{PREFIX}-process-2026.11/_doc", {"a": 1})
    others = client.request("POST", "/somebodyelses/_doc", {"a": 1})
    client.request("DELETE", "/somebodyelses")
    assert (ours.kind, others.ok) == ("index_not_found_exception", True)


@pytest.mark.opensearch
def test_a_mapping_that_does_not_fit_stops_everything(client: Client) -> None:
    """
    An index with another type for a field: nothing is changed, the field and index are named.
    """
    index = f"{PREFIX}-process-2020.01"
    client.put(f"/{index}", {"mappings": {"properties": {"core_seconds": {"type": "keyword"}}}})
    with pytest.raises(
        StoreError, match=rf"{index}: core_seconds is keyword, now scaled_float.*index"
    ):
        again(client)
    assert client.request("GET", f"/_index_template/{PREFIX}-process").status == 404


@pytest.mark.opensearch
def test_indices_of_an_older_version_get_new_fields(client: Client) -> None:
    """
    Fields that an index lacks are added to its mapping, what it has stays as it is.
    """
    index = f"{PREFIX}-job-2020"
    client.put(f"/{index}", {"mappings": {"dynamic": False, "properties": {}}})
    told = again(client)
    assert told[0].startswith(f"index {index}: ")
    mapping = client.get(f"/{index}/_mapping")[index]["mappings"]
    assert mapping["properties"]["job"]["properties"]["cores"] == {"type": "long", "index": False}
    assert again(client) == []


def test_elasticsearch_gets_its_own_words() -> None:
    """
    ILM instead of ISM, flattened instead of flat_object, the policy named in the template.
    """

    def fresh(asked: Asked) -> Reply:
        if asked.method == "GET" and asked.path != "/":
            empty: dict[str, object] = (
                {"persistent": {}} if asked.path == "/_cluster/settings" else {}
            )
            return (200, empty) if asked.path.startswith(("/_cluster", "/leadline")) else (404, {})
        return 0, None

    with scripted(others=fresh, version=ELASTICSEARCH) as server:
        client = Client([server.url])
        told = set_up(client, "leadline", OpenSearchSettings(), RETENTION)
        client.close()
        put = {call.path: call.lines[0] for call in server.calls("PUT")}
        asked_ism = server.calls("GET", "/_plugins")
    common = put["/_component_template/leadline-common"]["template"]["mappings"]["properties"]
    index = put["/_index_template/leadline-usage"]["template"]["settings"]["index"]
    assert common["labels"] == {"type": "flattened"}
    assert index["lifecycle"] == {"name": "leadline-usage"}
    assert put["/_ilm/policy/leadline-usage"]["policy"]["phases"]["delete"]["min_age"] == "1825d"
    assert asked_ism == []
    assert len(told) == len(put)


def test_ism_policies_are_updated_in_their_own_version() -> None:
    """
    Where index state management answers, a changed policy is replaced with its sequence number,
    and given anew to the indices that have it.
    """

    def with_ism(asked: Asked) -> Reply:
        if asked.path.startswith("/_plugins/_ism/explain"):
            policies = {
                "leadline-usage-2026": "leadline-usage",
                "leadline-job-2026": "leadline-job",
            }
            return 200, {index: {MANAGED_BY: name} for index, name in policies.items()}
        if asked.path == "/_plugins/_ism/policies/leadline-usage" and asked.method == "GET":
            return 200, {"_seq_no": 7, "_primary_term": 2, "policy": {"default_state": "hot"}}
        if asked.path.startswith("/_plugins/_ism/policies/") and asked.method == "GET":
            return 404, {"error": {"type": "status_exception", "reason": "Policy not found"}}
        if asked.method == "GET" and asked.path != "/":
            empty: dict[str, object] = (
                {"persistent": {}} if asked.path == "/_cluster/settings" else {}
            )
            return 200, empty
        return 0, None

    with scripted(others=with_ism) as server:
        client = Client([server.url])
        told = set_up(client, "leadline", OpenSearchSettings(), RETENTION)
        client.close()
        put = {call.path: call for call in server.calls("PUT", "/_plugins")}
        given = [call.path for call in server.calls("POST", "/_plugins")]
    usage = put["/_plugins/_ism/policies/leadline-usage"]
    assert usage.query == "if_seq_no=7&if_primary_term=2"
    assert put["/_plugins/_ism/policies/leadline-process"].query == ""
    assert "ISM policy leadline-usage: replace" in told
    assert given == ["/_plugins/_ism/change_policy/leadline-usage-2026"]


@pytest.mark.opensearch
def test_without_ism_setup_goes_on(client: Client) -> None:
    """
    The node here has no index state management: no policy is sent, nothing fails.
    """
    assert not [line for line in again(client, dry_run=True) if "policy" in line]
