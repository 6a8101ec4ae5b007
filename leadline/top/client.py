"""
The pages' API as the screen asks it: one answer, or one line on why there is none.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import LeadlineError

TIMEOUT = 10.0


class LostError(LeadlineError):
    """
    No answer now; asked again in a moment.
    """


class Stay(urllib.request.HTTPRedirectHandler):
    """
    The token goes to the host that was named and to no other.
    """

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Api:
    address: str  # of the pages: http://HOST:8470, with the prefix they live under
    token: str = ""
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        if not self.address.startswith(("http://", "https://")):
            raise LeadlineError(f"{self.address}: no address; write http://HOST:8470")

    def get(self, path: str, **parameters: str) -> Mapping[str, Any]:
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        url = f"{self.address.rstrip('/')}/api/v1/{path}{query}"
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http(s) only
        try:
            with urllib.request.build_opener(Stay).open(request, timeout=self.timeout) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            raise LostError(f"{self.address} answers {error.code} {_why(error)}") from error
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise LostError(f"{self.address} does not answer: {reason}") from error
        if not isinstance(found, dict):
            raise LostError(f"{self.address} answers, but not as leadline's pages")
        return found


def _why(error: urllib.error.HTTPError) -> str:
    if error.code == 401:
        return "Unauthorized: --token-file FILE names the token of the pages"
    try:
        said = json.loads(error.read(10_000))
    except (ValueError, OSError):
        return str(error.reason)
    return str(said.get("detail") or said.get("error") or error.reason)
