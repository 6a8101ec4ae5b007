"""
Time-based indices: a document lies in the index of the period its event happened in, so that late
and backfilled documents find their place and expiry can take whole periods.

Indices are made explicitly, dated at the end of their period: lifecycle policies count from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock

from leadline.formats import DATASETS
from leadline.formats.templates import PREFIX
from leadline.store.opensearch.client import Answer, Client

NOT_FOUND = 404
WIDTHS = {"day": 10, "month": 7, "year": 4}  # of 2026-11-21
PERIODS = {family: dataset.period for dataset in DATASETS.values() if (family := dataset.family)}


@dataclass(frozen=True, slots=True)
class Period:
    """
    What an index's name says: a family and the days it holds, `end` not included.
    """

    index: str
    family: str
    start: datetime
    end: datetime


def period_of(index: str, prefix: str = PREFIX) -> Period | None:
    """
    leadline-process-2026.11 as a period; None for every name that is not exactly of our kind.
    """
    families = "|".join(map(re.escape, PERIODS))
    pattern = rf"{re.escape(prefix)}-({families})-(\d{{4}})(?:\.(\d\d)(?:\.(\d\d))?)?"
    found = re.fullmatch(pattern, index, re.ASCII)
    if found is None:
        return None
    family, year, month, day = found.groups()
    try:
        start = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    except ValueError:
        return None
    if day:
        end = start + timedelta(days=1)
    elif month:
        end = (start + timedelta(days=32)).replace(day=1)
    else:
        end = start.replace(year=start.year + 1)
    return Period(index, family, start, end)


class Indices:
    """
    Which index a document belongs to, and making sure that it is there.
    """

    def __init__(self, client: Client, prefix: str, daily: Iterable[str] = ()) -> None:
        self.client = client
        self.prefix = prefix
        self.widths = {
            family: WIDTHS["day" if family in set(daily) else period]
            for family, period in PERIODS.items()
        }
        self.starts = {
            name: (f"{prefix}-{dataset.family}-", self.widths[dataset.family])
            for name, dataset in DATASETS.items()
        }
        self.known: set[str] = set()
        self.lock = Lock()

    def name(self, dataset: str, timestamp: str) -> str:
        start, width = self.starts[dataset]
        return start + timestamp[:width].replace("-", ".")

    def pattern(self, dataset: str) -> str:
        return f"{self.starts[dataset][0]}*"

    def ensure(self, index: str) -> Answer | None:
        """
        Make the index unless it is there; the refusal, if the engine refuses.
        """
        if index in self.known:
            return None
        with self.lock:
            if index in self.known:
                return None
            answer = self.make(index)
            if answer.ok or answer.kind == "resource_already_exists_exception":
                self.known.add(index)
                return None
            return answer

    def make(self, index: str) -> Answer:
        there = self.client.request("HEAD", f"/{index}")
        if there.ok or there.status != NOT_FOUND:
            return there
        period = period_of(index, self.prefix)
        assert period is not None, index
        template = f"{self.prefix}-{period.family}"
        if not self.client.request("HEAD", f"/_index_template/{template}").ok:
            return Answer(NOT_FOUND, None, f"template {template} is missing: run `leadline setup`")
        answer = self.client.request("PUT", f"/{index}", {"settings": self.dated(period)})
        if answer.ok and not self.client.engine.elasticsearch:
            # Index state management passes over indices that are older than its policy.
            self.client.request("POST", f"/_plugins/_ism/add/{index}", {"policy_id": template})
        return answer

    def forget(self, index: str) -> None:
        self.known.discard(index)

    def dated(self, period: Period) -> dict[str, object]:
        moment = int(period.end.timestamp() * 1000)
        engine = self.client.engine
        if engine.elasticsearch:
            return {"index.lifecycle.origination_date": moment}
        return {"index.creation_date": moment} if engine.takes_creation_date else {}
