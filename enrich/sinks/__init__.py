"""Where a worker may deliver besides a store of its own."""

from __future__ import annotations

from enrich.sinks.http import HttpSink

__all__ = ["HttpSink"]
