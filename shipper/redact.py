"""
Secrets leave command lines before anything leaves the node: the rules every room shares, and the
site's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from leadline.formats.redact import REDACTED, redact
from shipper.filters import patterns

Redact = Callable[[str], str]


def build(more: Iterable[str] = ()) -> Redact:
    """
    A function that hides secrets. MORE are a site's patterns: their group `secret`, else all of
    the match, is hidden.
    """
    rules = patterns("collect.redact.patterns", more)
    if not rules:
        return redact

    def hide(text: str) -> str:
        for rule in rules:
            text = rule.sub(_hide, text)
        return redact(text)

    return hide


def _hide(match: re.Match[str]) -> str:
    start, end = match.span("secret" if "secret" in match.re.groupindex else 0)
    if start < 0:
        return match[0]
    offset = match.start()
    return f"{match[0][: start - offset]}{REDACTED}{match[0][end - offset :]}"
