"""Names of nodes: the scheduler's and the senders' are compared, and differences told."""

from __future__ import annotations

from datetime import timedelta

from leadline.formats import Document
from leadline.formats.nodestate import REMOVED
from leadline.reports.finding import Case, Finding
from leadline.reports.findings import findings
from leadline.reports.names import differences, names
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored
from tests.reports.test_nodes import START, look, looks, read, state


def found(*documents: Document) -> list[Finding]:
    end = START + timedelta(days=1)
    return findings(Case(stored(documents), EVERYTHING, START, end, end), ["node names"])


def test_names_on_both_sides_are_compared() -> None:
    """
    A node that never sends, and machines the scheduler does not know.
    """
    fleet = read(
        stored(
            [
                *(state(0, "IDLE", host) for host in ("n1", "n2")),
                *looks(0, 3600),
                look(60, "n1"),
                look(60, "login"),
            ]
        )
    )
    assert [
        "fox: known to the scheduler, without samples (1): n2",
        "fox: sending samples, unknown to the scheduler (2): head, login",
    ] == differences(fleet)


def test_one_node_in_two_spellings() -> None:
    """
    `gpu-2` of the scheduler sends as `gpu-2.fox`: told as a pair, not as two strangers.
    """
    documents = [state(0, "IDLE", "gpu-2"), *looks(0, 3600), look(60, "GPU-2.fox")]
    pair = (("fox", "gpu-2"), ("fox", "GPU-2.fox"))
    told = names(read(stored(documents)))
    assert ((pair,), ()) == (told.written, told.silent)
    (one,) = found(*documents)
    assert ("nodes spelt otherwise", "node names") == (one.object, one.kind)
    assert one.evidence.endswith(": GPU-2.fox")
    assert "collect.host" in one.remedy


def test_machines_that_call_themselves_otherwise() -> None:
    """
    Slurm's `n1` is `ip-10-0-0-7` to itself; a name that three nodes have says nothing.
    """
    own = {"host.hostname": "ip-10-0-0-7"}
    shared = [state(0, "IDLE", f"m{n}", **{"host.hostname": "vm"}) for n in range(3)]
    documents = [state(0, "IDLE", "n1", **own), *shared, *looks(0, 3600)]
    fleet = read(stored([*documents, look(60, "ip-10-0-0-7"), look(60, "vm")]))
    told = names(fleet)
    assert ((("fox", "n1"), ("fox", "ip-10-0-0-7")),) == told.written
    assert ("fox", "vm") in told.strange


def test_silent_nodes_are_one_finding() -> None:
    """
    However many they are; where no node sends at all there is no shipper, and nothing to find.
    """
    states = [state(0, "IDLE", f"n{number:02}") for number in range(30)]
    (one,) = found(*states, *looks(0, 3600), look(60, "n00"))
    assert "nodes without samples" == one.object
    assert "(29): n01, " in one.evidence
    assert "n01" in one.evidence
    assert one.evidence.endswith("and 19 more")
    assert [] == found(*states, *looks(0, 3600))


def test_a_login_node_is_no_finding_unless_jobs_ran_there() -> None:
    """
    It sends and the scheduler does not have it: that is how login nodes are.
    """
    known = [state(0, "IDLE"), *looks(0, 3600), look(60, "n1"), look(60, "c9")]
    assert [] == found(*known)
    ran = {
        **look(60, "c9"),
        "dataset": "process",
        "process.entity_id": "1-1",
        "job.id": "fox/7",
        "job.run": "fox/7@1",
    }
    (one,) = found(*known, ran)
    assert "nodes without a scheduler" == one.object
    assert one.evidence.endswith("(1): c9")


def test_removed_node_is_missed_by_nobody() -> None:
    """
    The scheduler no longer has it, so it need not send.
    """
    gone = [state(0, "IDLE", "n2"), state(600, REMOVED, "n2")]
    assert () == names(read(stored([state(0, "IDLE"), *gone, *looks(0, 3600)]))).silent[1:]
