"""
A person forgotten in the ledger: alerts about her, words about her, letters to her.
"""

from __future__ import annotations

import pytest

from leadline.alerts.forget import forget
from leadline.alerts.ledger import Ledger
from leadline.alerts.settings import PersonSettings
from leadline.alerts.wishes import FOREVER, add, current
from tests.alerts.conftest import Site, hot

ALIAS = "uabcdefghij234567"


@pytest.fixture
def ledger(site: Site) -> Ledger:
    """
    One alert on a job of hers and one of another's, said to the admins; a letter to her.
    """
    site.person = PersonSettings(severity="info")
    hers = hot("alice on c1", user="alice", hours=500.0, share=0.9)
    site.turn([*hers, *hot("bob on c2", user="bob")])
    ledger = Ledger(site.folder / "state")
    ledger.do(
        "INSERT INTO outbox (id, recipient, subject, body, made, state)"
        " VALUES ('x', 'user:alice', 's', 'b', 0, 'waiting')"
    )
    ledger.set_mark("pace:user:alice:0:fox:hog", 1.0)
    ledger.set_mark("pace:user:alicea:0:fox:hog", 1.0)
    add(ledger, "opt-out", until=FOREVER, now=0.0, object="alice")
    return ledger


def everything(ledger: Ledger) -> str:
    names = ("alerts", "notes", "outbox", "marks")
    return "\n".join(
        str(tuple(row)) for name in names for row in ledger.rows(f"SELECT * FROM {name}")
    )


@pytest.mark.parametrize("alias", [None, ALIAS], ids=["erase", "pseudonym"])
def test_she_is_taken_out_and_others_stay(ledger: Ledger, alias: str | None) -> None:
    """
    Her wish not to be written to stays; a dry run changes nothing; again finds nothing.
    """
    before = everything(ledger)
    assert 3 == forget(ledger, "alice", alias, dry_run=True)
    assert before == everything(ledger)

    assert 3 == forget(ledger, "alice", alias, dry_run=False)

    text = everything(ledger)
    assert "alice" not in text.replace("alicea", "")
    assert ["alice"] == [one["object"] for one in current(ledger, "opt-out", 1.0)]
    assert "pace:user:alicea" in text
    assert "bob on c2" in text
    assert (alias or "(erased)") in text
    assert bool(alias) == bool(ledger.rows("SELECT * FROM alerts WHERE user = ?", ALIAS))
    assert 0 == forget(ledger, "alice", alias, dry_run=False)


def test_nothing_of_her_stays_in_the_file(ledger: Ledger) -> None:
    """
    Deleted rows of a database are still to be read in its file; not here.
    """
    folder = ledger.folder
    ledger.do("DELETE FROM marks WHERE name LIKE '%alicea%'")
    ledger.do("DELETE FROM wishes")
    forget(ledger, "alice", None, dry_run=False)
    ledger.close()
    assert b"alice" not in b"".join(path.read_bytes() for path in folder.glob("alerts.db*"))
