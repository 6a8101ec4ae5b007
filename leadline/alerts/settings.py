"""
Who hears what, when, and by which way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from leadline.settings.typed import Duration

Severity = Literal["info", "warning", "critical"]
RANK: dict[str, int] = {"info": 0, "warning": 1, "critical": 2}
SPAN = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True)
class AlertSettings:
    enabled: bool = True  # take part here; of several machines one does it at a time
    send: bool = False  # no is a dry run: messages are kept for `alerts list --messages` only
    rules: Path | None = None  # a YAML file of rules, over the shipped ones by name
    off: tuple[str, ...] = ()  # shipped rules that are not wanted
    settle: Duration = Duration(60)  # a message waits so long for more of its kind
    pause: Duration = Duration(600)  # at least so long between two messages of one rule
    users: bool = False  # write to the users themselves where a rule says so
    user_domain: str = ""  # alice hears at alice@this
    user_by: str = "smtp"  # the notifier users hear by
    user_share: float = 0.35  # of 1, unused: at least so much, and
    user_hours: float = 100.0  # at least so many hours, before a user is written to
    user_again: Duration = Duration(7 * 86400)  # a user hears of one rule at most once in this
    opt_out: tuple[str, ...] = ()  # users who are never written to


@dataclass(frozen=True)
class PersonSettings:
    """
    A subscription: a person, a channel or a machine that hears of alerts.
    """

    by: str = "smtp"  # notifier: smtp, webhook, command, file, syslog, or a plug-in
    address: str = ""  # mail address, URL, phone number, file or facility
    address_file: Path | None = None  # holds the address, where it is a secret
    rules: tuple[str, ...] = ("*",)  # names of rules, with * and ?
    clusters: tuple[str, ...] = ("*",)  # names of clusters, with * and ?
    severity: Severity = "warning"  # hear of this and worse
    quiet: str = ""  # 22:00-07:00: only critical ones then, the rest afterwards
    digest: str = ""  # 08:00: one message a day with everything, at that time
    zone: str = ""  # of quiet and digest; empty: this machine's
    off: bool = False  # hears nothing for now

    def __post_init__(self) -> None:
        if self.quiet and not SPAN.fullmatch(self.quiet):
            raise ValueError(f"quiet {self.quiet!r} is no span; write 22:00-07:00")
        if self.digest and not SPAN.fullmatch(f"{self.digest}-00:00"):
            raise ValueError(f"digest {self.digest!r} is no time of day; write 08:00")


@dataclass(frozen=True)
class ScheduleSettings:
    """
    A report that goes out by itself when a month or week is over.
    """

    about: str = ""  # on what: project=chem-1, cluster=fox; empty: everything
    to: tuple[str, ...] = ()  # names of the section `people`, one or more
    every: Literal["month", "week"] = "month"  # the span it speaks of
    at: str = "07:00"  # on the first day after it
    pdf: bool = False  # as PDF, where a Chromium is on this machine

    def __post_init__(self) -> None:
        if not self.to:
            raise ValueError("to: names nobody; write the names of people")
        if not SPAN.fullmatch(f"{self.at}-00:00"):
            raise ValueError(f"at {self.at!r} is no time of day; write 07:00")
        from leadline.query import parse_filters  # a node's shipper reads settings and asks nothing

        parse_filters(self.about)


@dataclass(frozen=True)
class SmtpSettings:
    host: str = "localhost"  # the mail server
    port: int = 25  # its port
    tls: Literal["no", "starttls", "tls"] = "no"  # how the connection is made safe
    ca_file: Path | None = None  # the authority that signed the server's certificate
    sender: str = "leadline@localhost"  # From
    username: str = ""  # where the server wants one
    password_file: Path | None = None  # holds its password
    timeout: Duration = Duration(20)  # for each step


@dataclass(frozen=True)
class WebhookSettings:
    shape: Literal["plain", "slack", "mattermost", "matrix"] = "plain"  # what the receiver reads
    token_file: Path | None = None  # sent as a bearer token
    timeout: Duration = Duration(20)  # for the answer


@dataclass(frozen=True)
class CommandSettings:
    run: tuple[str, ...] = ()  # program and arguments; {address} and {subject} are filled in
    timeout: Duration = Duration(30)  # then it is ended and tried again


@dataclass(frozen=True)
class SyslogSettings:
    target: str = "/dev/log"  # a socket, or HOST:PORT over UDP
    timeout: Duration = Duration(5)  # for the socket


@dataclass(frozen=True)
class NotifierSettings:
    smtp: SmtpSettings = field(default_factory=SmtpSettings)
    webhook: WebhookSettings = field(default_factory=WebhookSettings)
    command: CommandSettings = field(default_factory=CommandSettings)
    syslog: SyslogSettings = field(default_factory=SyslogSettings)
