"""
What a reader is told: whose records these are, and which of them are wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from enrich.chain import Chain, build_chain
from enrich.rules import read_rules
from enrich.step import Context
from leadline.formats.sacct import EARLIEST, LATEST

__all__ = ["EARLIEST", "LATEST", "Options"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    cluster: str
    zone: ZoneInfo  # in which files without a zone are written
    calendar: ZoneInfo | None = None  # whose days are counted, where the settings tell otherwise
    since: int = 0  # runs that ended from here on, seconds since 1970
    until: int = LATEST
    whole: bool = True  # a last line without its end is a record, too
    chain: Callable[[], Chain] | None = None  # what samples pass, as configured

    @property
    def days(self) -> ZoneInfo:
        return self.calendar or self.zone

    def build_chain(self) -> Chain:
        if self.chain is not None:
            return self.chain()
        return build_chain(Context(rules=read_rules(), cluster=self.cluster or None))
