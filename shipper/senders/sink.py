"""
What a sink is, and the three ways in which it may not take a batch.
"""

from __future__ import annotations

from typing import Protocol

from leadline.errors import LeadlineError


class NotNow(LeadlineError):  # noqa: N818 - it is an answer, not a mistake
    """
    Try the same batch again later: no connection, no room, an answer nobody understands.
    """

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Paused(LeadlineError):  # noqa: N818 - so is this
    """
    Nothing will be taken before a person has changed something: a token, an address, a right.
    """


class Refused(LeadlineError):  # noqa: N818 - and this
    """
    This very batch will never be taken as it is; parts of it may.
    """

    def __init__(self, reason: str, too_large: bool = False) -> None:
        super().__init__(reason)
        self.too_large = too_large


class Ahead(Refused):
    """
    Its times are too far ahead of the worker's clock: that of this node is wrong.
    """


class Sink(Protocol):
    """
    Where documents go. `send` returns when they are safe there, or raises one of the above.
    """

    @property
    def target(self) -> str: ...

    def send(self, data: bytes, count: int) -> None: ...

    def close(self) -> None: ...
