"""
What a notifier is: something that hands one message over, or says why not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from leadline.errors import LeadlineError
from leadline.render import safe_text


class NotNowError(LeadlineError):
    """
    The same message again later.
    """


class RefusedError(LeadlineError):
    """
    This message will never be taken; it is kept and listed.
    """


@dataclass(frozen=True, slots=True)
class Attachment:
    """
    A file that goes with a message, by notifiers that can carry one.
    """

    name: str
    kind: str  # MIME
    data: bytes


@dataclass(frozen=True, slots=True)
class Letter:
    """
    What somebody else wants sent: a report, a digest.
    """

    subject: str
    text: str
    file: Attachment | None = None


@dataclass(frozen=True, slots=True)
class Message:
    id: str  # the same at every attempt: a receiver may know repeats by it
    subject: str  # one line
    body: str
    severity: str = "info"
    file: Attachment | None = None  # mail carries it; the others say the text alone

    def __post_init__(self) -> None:
        # Names of hosts, files and users end here: none of them may start a header of its own.
        object.__setattr__(self, "subject", " ".join(printable(self.subject).split())[:200])


class Notifier(Protocol):
    def send(self, message: Message, address: str) -> None:
        """
        Returns when the message is taken. Raises NotNowError or RefusedError.
        """
        ...


def printable(text: str) -> str:
    """
    Without what terminals, headers and log files would obey; lines stay lines.
    """
    return "\n".join(map(safe_text, text.replace("\r", "\n").split("\n")))
