"""What the Slurm collector sends, through the chain: runs get names, samples learn of them."""

from __future__ import annotations

from enrich.chain import build_chain
from enrich.rules import read_rules
from enrich.seen import Seen
from enrich.step import Context
from leadline.formats import Document
from leadline.formats.validate import check
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from shipper.collectors.slurm.changes import Changes
from tests.enrich.conftest import make_sample
from tests.shipper.slurm.conftest import TAKEN, by_json


def sent() -> list[Document]:
    return [check(d) for d in Changes().of(by_json(), TAKEN)]


def test_samples_learn_their_run_from_job_states() -> None:
    """
    A node sent only the job's number; no node asked the scheduler.
    """
    chain = build_chain(Context(rules=read_rules(), cluster="fox"))
    done, rejected = chain.many(sent())
    assert not rejected
    (cards,) = [d for d in done if d["dataset"] == "job" and d.get("job.name") == "cards"]
    sample = make_sample(
        **{"job.local_id": cards["job.local_id"], "@timestamp": "2026-11-21T06:09:48Z"}
    )
    named = chain.one(check(sample))
    assert (cards["job.run"], "physics", "batch") == (
        named["job.run"],
        named["project"],
        named["partition"],
    )


def test_documents_are_stored_once() -> None:
    """
    The same look sent twice is one set of documents, none of them refused.
    """
    chain = build_chain(Context(rules=read_rules(), cluster="fox"))
    store = MemoryStore()
    for _ in range(2):
        done, _ = chain.many(sent())
        outcome = store.write(done, "create")
        assert not outcome.rejected
    assert 0 == outcome.accepted
    states = [d for batch in store.scan("job_state", EVERYTHING) for d in batch]
    assert len(states) == len({(d["@timestamp"], d["job.run"], d["state.hash"]) for d in states})


def test_a_node_spoken_of_has_not_spoken() -> None:
    """
    A node that is down is not "last seen now" because the scheduler says that it is down.
    """
    seen = Seen()
    seen.note(sent(), TAKEN)
    assert [] == seen.hosts()
