"""
Command lines as text: any bytes in, redacted, cut to what a document may hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from shipper.digest import digest
from shipper.redact import Redact

LONGEST = 8191
REDACTED_AHEAD = 4 * LONGEST  # a secret that begins before the cut is hidden whole


@dataclass(frozen=True, slots=True)
class CommandLine:
    text: str | None  # None: a zombie, a kernel thread, or denied
    digest: str | None = None  # of the whole, when it was cut

    def __bool__(self) -> bool:
        return self.text is not None


NOTHING = CommandLine(None)


def command_line(raw: bytes | None, redact: Redact | None, arguments: bool = True) -> CommandLine:
    """
    /proc/PID/cmdline as text: arguments joined by blanks, broken UTF-8 as \\xNN.
    """
    if not raw or not (raw := raw.rstrip(b"\0")):
        return NOTHING
    if not arguments:
        raw = raw.split(b"\0", 1)[0]
    of_all = None
    if len(raw) > REDACTED_AHEAD:
        of_all = digest(raw, 12)
        raw = raw[:REDACTED_AHEAD]
    text = raw.replace(b"\0", b" ").decode("utf-8", "backslashreplace")
    if redact is not None:
        text = redact(text)
    if len(text) > LONGEST:
        of_all = of_all or digest(raw, 12)
        text = text[:LONGEST]
    return CommandLine(text, of_all)
