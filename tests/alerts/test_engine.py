"""
Alerts are said once, remembered over restarts, said to be over, and storms are few messages.
"""

from __future__ import annotations

from dataclasses import replace

from leadline.alerts.ledger import Ledger
from leadline.alerts.rules import Rule
from leadline.alerts.settings import AlertSettings, PersonSettings
from leadline.alerts.wishes import add
from leadline.settings.typed import Duration
from leadline.store.scope import EVERYTHING
from tests.alerts.conftest import HOT, Site, hot


def test_alert_is_said_once_however_often_it_is_seen(site: Site) -> None:
    """
    Each turn is a new process on the same state.
    """
    (first,) = site.turn(hot("c1"))
    assert "[warning] fox: hot: c1 is hot" == first["subject"]
    assert [] == [line for minute in range(1, 60, 5) for line in site.turn(hot("c1"), minute)]


def test_alert_is_over_once_and_may_come_again(site: Site) -> None:
    """
    The same object later is a new alert.
    """
    site.turn(hot("c1"))
    (over,) = site.turn(hot("c1", on=False), 20)
    assert "[over] fox: hot: c1 is hot" == over["subject"]
    assert [] == site.turn(hot("c1", on=False), 40)
    (again,) = site.turn(hot("c1"), 60)
    assert again["subject"].startswith("[warning]")


def test_what_is_not_seen_stays_as_it_was(site: Site) -> None:
    """
    No sample is no sign of health, unless the look was complete.
    """
    site.turn(hot("c1"))
    assert [] == site.turn([], 20)
    site.complete = True
    assert ["[over] fox: hot: c1 is hot"] == [line["subject"] for line in site.turn([], 40)]


def test_storm_of_ten_thousand_is_few_messages(site: Site) -> None:
    """
    However the nodes of a storm trickle in over an hour, one message every ten minutes at most.
    """
    site.settings = replace(site.settings, settle=Duration(90))
    nodes = [f"c{rack}-{n}" for rack in range(100) for n in range(1, 101)]
    for minute in range(0, 63, 6):
        site.turn(hot(*nodes[: 400 * (minute + 1)]), minute)

    subjects = [line["subject"] for line in site.lines()]
    assert 10_000 == sum(int(text.split(" × ")[0].rpartition(" ")[2]) for text in subjects)
    assert 4 >= len(subjects) >= 2
    assert all(len(text) <= 200 for text in subjects)


def test_rack_going_silent_is_one_message(site: Site) -> None:
    """
    Its nodes are folded, as schedulers write them.
    """
    (one,) = site.turn(hot(*(f"c1-{n}" for n in range(1, 41))))
    assert "[warning] fox: hot: 40 × c1-[1-40]" == one["subject"]


def test_quiet_hours_keep_what_is_not_critical(site: Site) -> None:
    """
    It is said in the morning, unless it is over by then.
    """
    site.person = PersonSettings(quiet="11:00-13:00")
    assert [] == site.turn(hot("c1", "c2"))
    assert [] == site.turn(hot("c1", on=False), 30)
    (morning,) = site.turn(hot("c2"), 61)
    assert "c2 is hot" in morning["text"]
    assert "c1" not in morning["text"]


def test_critical_breaks_quiet_hours(site: Site) -> None:
    """
    That is what critical means.
    """
    site.person = PersonSettings(quiet="22:00-13:00")
    site.rules = {"hot": replace(HOT, severity="critical"), "warm": HOT}
    (one,) = site.turn(hot("c1"))
    assert one["subject"].startswith("[critical] fox: hot")


def test_digest_is_one_message_a_day(site: Site) -> None:
    """
    With what came and went as well.
    """
    site.person = PersonSettings(digest="13:00")
    site.rules = {"hot": HOT, "warm": Rule("silent", "{object} is warm")}
    assert [] == site.turn(hot("c1"))
    assert [] == site.turn(hot("c1", on=False), 30)
    (one,) = site.turn([], 61)
    assert "[warning] fox: 2 alerts, 2 over" == one["subject"]
    assert [] == site.turn(hot("c2"), 90)
    assert 1 == len(site.turn([], 61 + 24 * 60))


def test_silence_hides_and_its_end_tells(site: Site) -> None:
    """
    What still fires after a silence is said then.
    """
    ledger = Ledger(site.folder / "state")
    until = 1795176000.0 + 1800
    add(ledger, "silence", until=until, now=0.0, rule="h*", object="c1*", reason="moved")
    ledger.close()
    (one,) = site.turn(hot("c1", "c2"))
    assert "c1" not in one["text"]
    (later,) = site.turn(hot("c1", "c2"), 31)
    assert "[warning] fox: hot: c1 is hot" == later["subject"]


def test_dry_run_says_nothing_until_it_is_real(site: Site) -> None:
    """
    Messages are kept for reading; what still fires on the first real day is said.
    """
    site.settings = AlertSettings(settle=Duration(0))
    assert [] == site.turn(hot("c1"))
    assert ["dry"] == [row["state"] for row in site.waiting()]
    site.settings = replace(site.settings, send=True)
    assert ["[warning] fox: hot: c1 is hot"] == [x["subject"] for x in site.turn(hot("c1"), 20)]


def test_dry_rule_says_nothing(site: Site) -> None:
    """
    A new rule may be tried among those that are trusted.
    """
    site.rules = {"hot": replace(HOT, dry=True)}
    assert [] == site.turn(hot("c1"))
    assert ["dry"] == [row["state"] for row in site.waiting()]


def test_subscriptions_choose_by_rule_cluster_and_severity(site: Site) -> None:
    """
    Nobody hears what she did not ask for.
    """
    for person in (
        PersonSettings(rules=("disk-*",)),
        PersonSettings(clusters=("betzy",)),
        PersonSettings(severity="critical"),
        PersonSettings(off=True),
    ):
        site.person = person
        assert [] == site.turn(hot("c1"))
    site.person = PersonSettings(rules=("h?t",), clusters=("f*",))
    assert 1 == len(site.turn(hot("c1")))


def test_user_is_written_to_when_share_and_hours_are_both_bad(site: Site) -> None:
    """
    A small waste at a bad rate, or a big job used well, is no reason for a mail; nor is a week
    that had one already.
    """
    wanted = {"users": True, "user_domain": "uni.no", "opt_out": ("bob",)}
    site.settings = replace(site.settings, **wanted)  # type: ignore[arg-type]
    site.rules = {"idle": replace(HOT, tell_user=True, severity="info")}
    site.turn(
        [
            *hot("small", user="alice", share=0.9, hours=20.0),
            *hot("good", user="carol", share=0.1, hours=5000.0),
            *hot("unknown", user="dora", hours=5000.0),
            *hot("out", user="bob", share=0.9, hours=5000.0),
            *hot("bad", user="eve", share=0.9, hours=500.0),
        ]
    )
    assert ["user:eve"] == [row["recipient"] for row in site.waiting()]
    more = hot("worse", user="eve", share=0.9, hours=900.0)
    site.turn(more, 60)
    assert 1 == len(site.waiting())
    site.turn(more, 8 * 24 * 60)
    assert 2 == len(site.waiting())


def test_alerts_are_events_of_the_store(site: Site) -> None:
    """
    One document for each, with its end once it is over.
    """
    site.turn(hot("c1", value=3.0))
    site.turn(hot("c1", on=False), 20)
    (batch,) = site.store.scan("event", EVERYTHING)
    (event,) = batch
    assert ("alert", "hot", "c1") == tuple(
        event[name] for name in ("event.kind", "rule.name", "event.object")
    )
    assert "2026-11-20T12:20:00.000Z" == event["event.end"]


def test_names_cannot_start_a_header_or_a_line(site: Site) -> None:
    """
    What a user calls a process ends in subjects and files.
    """
    (one,) = site.turn(hot("c1: x\r\nBcc: all@uni.no\x1b[2J"))
    assert "\n" not in one["subject"]
    assert "\r" not in one["subject"]
    assert "\x1b" not in one["subject"]
