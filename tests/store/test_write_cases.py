"""
Every store: what is written, scanned, expired and counted.
"""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from leadline.formats import Document
from leadline.formats.ids import document_id
from leadline.store.contract import Ready, Store
from leadline.store.scope import EVERYTHING
from tests.store.cases import at, count, everything
from tests.store.documents import job, process


def test_written_documents_come_back_as_they_were(store: Store) -> None:
    """
    Every type of field survives: numbers, flags, instants, days, sets, objects, blanks, accents.
    """
    document = process(
        1,
        **{
            "process.pid": 17,
            "core_seconds": 12.25,
            "rolled_up": True,
            "program.tags": ["gpu", "mpi"],
            "labels": {"odd.name": [1, {"deep": "ø"}], "n": 2.5},
            "process.start": "2026-11-20T23:59:59.123Z",
            "process.command_line": "sh -c \"echo  \t'hej' \\ ☃\"",
        },
    )

    outcome = store.write([document, process(2)], "create")

    assert (outcome.accepted, outcome.duplicate) == (2, 0)
    assert everything(store) == [document, process(2)]


def test_a_batch_sent_twice_is_stored_once(store: Store) -> None:
    """
    A repeat changes nothing and every document of it is counted as duplicate.
    """
    batch = [process(number) for number in range(20)]
    store.write(batch, "create")

    again = store.write(batch, "create")

    assert (again.accepted, again.duplicate) == (0, 20)
    assert count(store) == 20


def ready(document: Document) -> Ready:
    time = str(document["@timestamp"])
    return Ready("process", time, document_id(document).encode(), orjson.dumps(document))


def test_lines_that_are_ready_are_the_same_documents(store: Store) -> None:
    """
    Encoded before or not: what was stored one way is a duplicate the other way.
    """
    batch = [process(number, **{"process.command_line": "ø"}) for number in range(6)]
    store.write(batch[:2], "create")

    outcome = store.write_ready([ready(document) for document in batch])

    assert (outcome.accepted, outcome.duplicate) == (4, 2)
    assert everything(store) == batch
    assert store.write(batch, "create").duplicate == 6


def test_a_ready_line_that_is_broken_is_rejected_alone(store: Store) -> None:
    """
    It comes back as a document, for a dead letter.
    """
    broken = process(2, **{"memory.rss.bytes": "much"})

    outcome = store.write_ready([ready(process(1)), ready(broken), ready(process(3))])

    assert (outcome.accepted, outcome.kept) == (2, [])
    assert [document for document, _ in outcome.rejected] == [broken]


def test_doubles_within_a_batch_are_stored_once(store: Store) -> None:
    """
    The first of two documents with one key is kept.
    """
    outcome = store.write([process(1, core_seconds=1.0), process(1, core_seconds=2.0)], "create")

    assert (outcome.accepted, outcome.duplicate) == (1, 1)
    assert [d["core_seconds"] for d in everything(store)] == [1.0]


def test_absent_parts_of_a_key_are_equal(store: Store) -> None:
    """
    Two documents of an old source that knows no boot id are the same document.
    """
    plain = {name: value for name, value in process(1).items() if name != "boot.id"}
    store.write([plain], "create")

    outcome = store.write([plain, process(1)], "create")

    assert (outcome.accepted, outcome.duplicate) == (1, 1)


def test_mixed_datasets_in_one_batch(store: Store) -> None:
    """
    Each document goes to its dataset.
    """
    node = {n: v for n, v in process(1).items() if n != "process.entity_id"} | {"dataset": "node"}

    assert store.write([process(1), node, job(1)], "create").accepted == 3
    assert everything(store, "node") == [node]
    assert everything(store, "job") == [job(1)]


def test_a_broken_document_is_rejected_alone(store: Store) -> None:
    """
    One value its field cannot hold does not keep its neighbours out.
    """
    broken = process(2, **{"process.pid": "seventeen"})

    outcome = store.write([process(1), broken, process(3)], "create")

    assert outcome.accepted == 2
    assert [document for document, _ in outcome.rejected] == [broken]
    assert "process.pid" in outcome.rejected[0][1]


def test_without_time_or_dataset_a_document_is_rejected(store: Store) -> None:
    """
    Nobody can say where such a document belongs.
    """
    timeless = {name: value for name, value in process(1).items() if name != "@timestamp"}

    outcome = store.write([timeless, {"dataset": "nonsense"}, process(1)], "create")

    assert (outcome.accepted, len(outcome.rejected)) == (1, 2)


def test_an_empty_batch_is_nothing(store: Store) -> None:
    """
    No documents, no trouble.
    """
    assert store.write([], "create").accepted == 0
    assert everything(store) == []


def test_a_greater_version_takes_the_place(store: Store) -> None:
    """
    Corrections win whichever is written first; an older one is a duplicate.
    """
    store.write([job(1, 5, **{"job.state": "RUNNING"}), job(2, 5)], "replace")

    newer = store.write([job(1, 6, **{"job.state": "COMPLETED"})], "replace")
    older = store.write([job(1, 4, **{"job.state": "PENDING"})], "replace")

    assert (newer.accepted, newer.duplicate) == (1, 0)
    assert (older.accepted, older.duplicate) == (0, 1)
    assert sorted(str(d.get("job.state")) for d in everything(store, "job")) == [
        "COMPLETED",
        "None",
    ]


def test_an_equal_version_takes_the_place(store: Store) -> None:
    """
    A record read twice may have gained fields the second time.
    """
    store.write([job(1, 5)], "replace")

    assert store.write([job(1, 5, **{"job.name": "better"})], "replace").accepted == 1
    assert [d.get("job.name") for d in everything(store, "job")] == ["better"]


def test_versions_within_a_batch(store: Store) -> None:
    """
    A batch counts like the same documents sent one after the other.
    """
    outcome = store.write([job(1, 2), job(1, 1), job(1, 3), job(2, 1)], "replace")

    assert (outcome.accepted, outcome.duplicate) == (3, 1)
    assert sorted(str(d["record.version"]) for d in everything(store, "job")) == ["1", "3"]


# ── scan ──


def test_scan_orders_cuts_and_selects(store: Store) -> None:
    """
    Order by several fields, absent ones last, a leading minus descends.
    """
    store.write(
        [
            process(1, core_seconds=1.0),
            process(2, core_seconds=3.0),
            process(3),
            process(4, core_seconds=3.0),
        ],
        "create",
    )

    found = everything(
        store, order=("-core_seconds", "sample.uptime"), fields=("sample.uptime", "core_seconds")
    )

    assert [d["sample.uptime"] for d in found] == [2, 4, 1, 3]
    assert found[3] == {"sample.uptime": 3}
    assert len(everything(store, limit=2)) == 2


def test_scan_is_half_open_in_time(store: Store) -> None:
    """
    The moment of `start` belongs to the answer, that of `end` does not.
    """
    store.write(
        [process(n, **{"@timestamp": f"2026-11-21T0{n}:00:00.000Z"}) for n in range(4)], "create"
    )

    found = everything(store, start=at(21, 1), end=at(21, 3))

    assert [d["sample.uptime"] for d in found] == [1, 2]


def test_a_long_scan_comes_in_batches(store: Store) -> None:
    """
    All of a dataset, more than one batch holds, in order.
    """
    store.write([process(number, **{"process.pid": number}) for number in range(3000)], "create")

    batches = list(store.scan("process", EVERYTHING, order=("process.pid",)))

    assert len(batches) > 1 or len(batches[0]) == 3000
    assert [d["process.pid"] for batch in batches for d in batch] == list(range(3000))


def test_expire_takes_whole_months_only(store: Store) -> None:
    """
    A month that ends after the moment stays whole; a dry run only tells.
    """
    store.write(
        [
            process(n, **{"@timestamp": f"2026-{month:02d}-15T00:00:00.000Z"})
            for n, month in enumerate((8, 9, 10))
        ],
        "create",
    )
    keep = {"process": datetime(2026, 10, 20, tzinfo=UTC)}

    told = store.expire(keep, dry_run=True)
    assert count(store) == 3
    done = store.expire(keep, dry_run=False)

    assert [(e.dataset, e.documents) for e in told] == [("process", 1), ("process", 1)]
    assert [e.name for e in done] == [e.name for e in told]
    assert [d["@timestamp"] for d in everything(store)] == ["2026-10-15T00:00:00.000Z"]
    assert store.expire({"node": at(21)}, dry_run=False) == []


def test_health_tells_how_much_and_how_fresh(store: Store) -> None:
    """
    Counts and the span of time by dataset.
    """
    store.write([process(1), process(5), job(1)], "create")

    health = store.health()

    assert health.ok
    assert health.datasets["process"].documents == 2
    assert health.datasets["process"].oldest == "2026-11-21T04:00:01.000Z"
    assert health.datasets["process"].newest == "2026-11-21T04:00:05.000Z"
    assert health.datasets["job"].documents == 1
