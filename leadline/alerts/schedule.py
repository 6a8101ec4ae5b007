"""
Reports that go out by themselves: once for each month or week that is over, to whom they are for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.alerts.notifiers.contract import Attachment, Letter
from leadline.alerts.outbox import Outbox
from leadline.alerts.settings import ScheduleSettings
from leadline.errors import LeadlineError
from leadline.query import parse_filters
from leadline.query.periods import Period, parse_period
from leadline.reports.grants import Grant
from leadline.reports.monthly import Desk, Report, make
from leadline.reports.monthly_page import as_html, as_pdf, as_text
from leadline.reports.settings import AllocationSettings
from leadline.settings.zones import local_zone
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING

KINDS = {"monthly": "month", "weekly": "week"}


@dataclass(frozen=True, slots=True)
class Schedule:
    """
    The section `reports` of the settings, and what its periods mean here.
    """

    reports: Mapping[str, ScheduleSettings] = field(default_factory=dict)
    zone: ZoneInfo = field(default_factory=local_zone)
    grants: Callable[[], Sequence[Grant]] = tuple
    allocations: AllocationSettings = field(default_factory=AllocationSettings)

    def post(self, box: Outbox, store: Store, now: datetime) -> list[str]:
        """
        Make what is due and was not posted yet; the troubles. Each report is posted whole or not.
        """
        troubles = []
        for name, wanted in self.reports.items():
            span = due(wanted, now, self.zone)
            if span is None:
                continue
            once = f"report {name} {span.text}"
            missing = [to for to in wanted.to if not box.posted(once, to)]
            try:
                if missing:
                    self._make(box, store, name, wanted, span, missing, now)
            except (LeadlineError, OSError) as error:
                troubles.append(f"report {name}: {str(error).splitlines()[0]}")
        return troubles

    def _make(
        self,
        box: Outbox,
        store: Store,
        name: str,
        wanted: ScheduleSettings,
        span: Period,
        missing: list[str],
        now: datetime,
    ) -> None:
        desk = Desk(
            store=store,
            scope=EVERYTHING,
            now=now,
            zone=self.zone,
            grants=self.grants(),
            allocations=self.allocations,
        )
        made = make(desk, parse_filters(wanted.about), span.text)
        mail = letter(made, name, pdf=wanted.pdf)
        for to in missing:
            box.post(f"report {name} {span.text}", to, mail, now)


def due(wanted: ScheduleSettings, now: datetime, zone: ZoneInfo) -> Period | None:
    """
    The last whole month or week, once its own hour has come in the one after it.
    """
    last = parse_period(f"previous {wanted.every}", now, zone)
    span = last if last.text[:1].isdigit() else parse_period(_dated(last), now, zone)
    hour, minute = map(int, wanted.at.split(":"))
    assert span.end is not None
    return span if now >= span.end + timedelta(hours=hour, minutes=minute) else None


def _dated(period: Period) -> str:
    """
    2026-10 rather than `previous month`, which is another one tomorrow.
    """
    after = period.after()
    before = after.before() if after is not None else None
    assert before is not None
    return before.text


def letter(made: Report, name: str, *, pdf: bool) -> Letter:
    """
    The text of the mail, and the file that comes with it.
    """
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", f"leadline-{name}-{made.period.text}").strip("-")
    if pdf:
        file = Attachment(f"{stem}.pdf", "application/pdf", as_pdf(made))
    else:
        file = Attachment(f"{stem}.html", "text/html", as_html(made).encode())
    return Letter(f"leadline: {made.title}", as_text(made), file)
