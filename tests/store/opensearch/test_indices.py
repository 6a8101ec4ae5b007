"""
Names of indices and the periods they hold.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leadline.store.opensearch.indices import period_of
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.store import OpenSearchStore
from tests.opensearch_fixture import TEST_PREFIX
from tests.store.documents import job, process
from tests.store.opensearch.scripted import scripted


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("leadline-process-2026.11", (2026, 11, 1), (2026, 12, 1)),
        ("leadline-process-2024.02.29", (2024, 2, 29), (2024, 3, 1)),
        ("leadline-node-2026.12", (2026, 12, 1), (2027, 1, 1)),
        ("leadline-job-2026", (2026, 1, 1), (2027, 1, 1)),
    ],
)
def test_a_name_tells_its_period(name: str, start: tuple[int, ...], end: tuple[int, ...]) -> None:
    """
    Day, month or year, the end not included.
    """
    period = period_of(name)
    assert period is not None
    assert period.start == datetime(*start, tzinfo=UTC)  # type: ignore[arg-type, misc]
    assert period.end == datetime(*end, tzinfo=UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    "name",
    [
        "leadline-process-2026.13",
        "leadline-process-2026.11-000001",
        "leadline-process-2026.11-restored",
        "my-leadline-process-2026.11",
        "leadline-process-",
        "leadline-stranger-2026.11",
        "leadline-process-20261",
        "leadline-process-٢٠٢٦.11",
        "leadline-process-2026.11\n",
        "leadlineXprocess-2026.11",
    ],
)
def test_foreign_names_are_no_periods(name: str) -> None:
    """
    Only whole names of our kind: whatever looks nearly so is somebody else's.
    """
    assert period_of(name) is None


@pytest.mark.opensearch
def test_documents_lie_in_their_own_period_dated_at_its_end(
    opensearch_store: OpenSearchStore,
) -> None:
    """
    A backfilled sample of 2021 lies in 2021, and its index is as old as that.
    """
    old = process(1, **{"@timestamp": "2021-05-03T10:00:00.000Z"})
    opensearch_store.write([old, process(2), job(3)], "create")
    settings = opensearch_store.client.get(f"/{TEST_PREFIX}-*/_settings", flat_settings=True)
    dates = {
        name: int(body["settings"]["index.creation_date"]) // 1000
        for name, body in settings.items()
    }
    assert dates == {
        f"{TEST_PREFIX}-process-2021.05": datetime(2021, 6, 1, tzinfo=UTC).timestamp(),
        f"{TEST_PREFIX}-process-2026.11": datetime(2026, 12, 1, tzinfo=UTC).timestamp(),
        f"{TEST_PREFIX}-job-2026": datetime(2027, 1, 1, tzinfo=UTC).timestamp(),
    }


def test_older_versions_are_not_told_a_date() -> None:
    """
    Below OpenSearch 3.4 the setting does not exist: the index is made without it.
    """
    version = {"distribution": "opensearch", "number": "2.19.1"}
    with scripted(version=version) as server:
        store = OpenSearchStore([server.url])
        store.write([process(1)], "create")
        store.close()
        (call,) = server.calls("PUT")
    assert call.lines == [{"settings": {}}]


def test_a_family_may_be_cut_by_day() -> None:
    """
    A big site sets opensearch.daily; a question still reads all of it by one pattern.
    """
    with scripted() as server:
        store = OpenSearchStore([server.url], settings=OpenSearchSettings(daily=("process",)))
        store.write([process(1), job(1)], "create")
        store.close()
        made = sorted(call.path for call in server.calls("PUT"))
    assert made == ["/leadline-job-2026", "/leadline-process-2026.11.21"]


def test_an_unknown_daily_family_is_refused() -> None:
    """
    A mistyped family would silently stay monthly.
    """
    with pytest.raises(ValueError, match="proces is none of process"):
        OpenSearchSettings(daily=("proces",))
