"""Ids: the same for the same document, different for any other."""

from __future__ import annotations

from leadline.formats.ids import document_id
from tests.formats.test_validate import sample


def test_same_document_has_the_same_id() -> None:
    """
    What is not in the key does not change the id.
    """
    assert document_id(sample()) == document_id(sample(core_seconds=99.0))


def test_other_key_has_another_id() -> None:
    """
    Every part of the key counts, an absent one too.
    """
    ids = {
        document_id(sample()),
        document_id(sample(cluster="betzy")),
        document_id(sample(process__entity_id="17-5")),
        document_id(sample(sample__uptime=1001)),
        document_id({k: v for k, v in sample().items() if k != "boot.id"}),
    }
    assert len(ids) == 5


def test_id_begins_with_the_time() -> None:
    """
    Ids sort by time, and hold 8 + 16 characters.
    """
    early, late = sample(), sample(**{"@timestamp": "2026-11-22T04:00:00.000Z"})
    assert document_id(early)[:8] < document_id(late)[:8]
    assert len(document_id(early)) == 24
