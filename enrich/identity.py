"""
Who belongs where, and when: user → group → groups of groups, from dated tables and the directory.

What was true at a sample's time is what counts: somebody who changes group takes no history along.
"""

from __future__ import annotations

import grp
import pwd
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from enrich.tables import Columns, Place, read_table

USERS = Columns(
    known=("user", "group", "from", "until", "cluster"),
    required=("user", "group"),
)
METAGROUPS = Columns(
    known=("member", "metagroup", "from", "until"), required=("member", "metagroup")
)
UNKNOWN = "unknown"
USER = "user:"  # before a member that is a user, not a group
DEEPEST = 10  # groups of groups of groups …

Lookup = Callable[[str], str | None]


@dataclass(frozen=True)
class IdentitySettings:
    users: tuple[Path, ...] = ()  # tables user,group,from,until,cluster
    metagroups: tuple[Path, ...] = ()  # tables member,metagroup,from,until
    directory: bool = True  # ask this machine's directory for users no table names


@dataclass(frozen=True, slots=True)
class Span:
    """
    A membership from a day on until the day before another; days are the cluster's.
    """

    group: str
    start: str  # "" from ever
    end: str  # "" for good
    cluster: str = ""

    def holds(self, day: str, cluster: str) -> bool:
        return (
            self.start <= day
            and (not self.end or day < self.end)
            and (not self.cluster or self.cluster == cluster)
        )


@dataclass(frozen=True, slots=True)
class Identity:
    group: str | None
    metagroups: tuple[str, ...] = ()


class Identities:
    """
    Without a table of users nobody is called unknown: there is nothing to be known by.
    """

    def __init__(
        self,
        users: dict[str, list[Span]] | None = None,
        metagroups: dict[str, list[Span]] | None = None,
        directory: Lookup | None = None,
    ) -> None:
        self._users = users or {}
        self._metagroups = metagroups or {}
        self._directory = directory

    @property
    def listed(self) -> bool:
        return bool(self._users)

    def of(self, user: str, day: str, cluster: str, recorded: str | None = None) -> Identity:
        """
        USER's group on DAY: by the tables, as RECORDED, by the directory; else unknown.
        """
        spans = self._users.get(user, ())
        # What is said of one cluster is more special than what is said of all.
        held = sorted(
            (span for span in spans if span.holds(day, cluster)), key=lambda span: not span.cluster
        )
        group = held[0].group if held else None
        if group is None and recorded not in (None, UNKNOWN):
            group = recorded
        if group is None and self._directory is not None:
            group = self._directory(user)
        if group is None and self.listed:
            group = UNKNOWN
        return Identity(group, self._above((USER + user, group), day, cluster))

    def _above(self, members: Iterable[str | None], day: str, cluster: str) -> tuple[str, ...]:
        found: set[str] = set()
        now = {member for member in members if member}
        for _ in range(DEEPEST):
            now = {
                span.group
                for member in now
                for span in self._metagroups.get(member, ())
                if span.holds(day, cluster)
            } - found
            if not now:
                break
            found |= now
        return tuple(sorted(found))


def read_identities(settings: IdentitySettings) -> Identities:
    return Identities(
        _spans(settings.users, USERS, "user", "group"),
        _spans(settings.metagroups, METAGROUPS, "member", "metagroup"),
        system_group if settings.directory else None,
    )


def system_group(user: str) -> str | None:
    """
    The primary group by this machine's directory (files, LDAP, whatever NSS asks).
    """
    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        return None


def _spans(
    files: Iterable[Path], columns: Columns, member: str, group: str
) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = {}
    for path in files:
        for place, row in read_table(path, columns):
            span = Span(
                row[group],
                _day(place, row, "from"),
                _day(place, row, "until"),
                row.get("cluster", ""),
            )
            if span.end and span.end <= span.start:
                raise place.error(f"until {span.end} is not after from {span.start}", "swap them")
            others = spans.setdefault(row[member], [])
            if columns is USERS:
                _check_overlap(place, row[member], span, others)
            others.append(span)
    return spans


def _day(place: Place, row: dict[str, str], name: str) -> str:
    text = row.get(name, "")
    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise place.error(f"{name} {text!r} is no day", "write it as 2026-03-01") from None


def _check_overlap(place: Place, user: str, span: Span, others: Iterable[Span]) -> None:
    for other in others:
        apart = (span.end and span.end <= other.start) or (other.end and other.end <= span.start)
        if span.cluster == other.cluster and not apart:
            what = f"{user} is in {other.group} and {span.group} at the same time"
            raise place.error(what, "end the first with `until`, the first day it no longer holds")
