"""
Notifier `webhook`: a POST in the shape Slack, Mattermost or Matrix read, or plain JSON.
"""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any

import orjson

from leadline.alerts.notifiers.contract import Message, NotNowError, RefusedError, printable
from leadline.alerts.settings import NotifierSettings, WebhookSettings

AGAIN = frozenset({401, 403, 404, 408, 425, 429})  # a person may put these right


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """
    What is posted, and the token with it, goes to the host that was named and to no other.
    """

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


class Webhook:
    def __init__(self, settings: WebhookSettings) -> None:
        self.settings = settings

    def send(self, message: Message, address: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise RefusedError(f"{address!r} is no address of a webhook")
        try:
            opener = urllib.request.build_opener(NoRedirect)
            with opener.open(self.request(message, address), timeout=self.settings.timeout):
                pass
        except urllib.error.HTTPError as error:
            lasting = 300 <= error.code < 500 and error.code not in AGAIN
            kind = RefusedError if lasting else NotNowError
            raise kind(f"{_host(address)} answers {error.code} {error.reason}") from error
        except (urllib.error.URLError, HTTPException, OSError) as error:
            raise NotNowError(f"{_host(address)}: {getattr(error, 'reason', error)}") from error

    def request(self, message: Message, address: str) -> urllib.request.Request:
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.id}
        if self.settings.token_file:
            token = self.settings.token_file.read_text(encoding="utf-8").strip()
            headers["Authorization"] = f"Bearer {token}"
        matrix = self.settings.shape == "matrix"
        if matrix:  # …/rooms/ROOM/send/m.room.message: the id makes a repeat no second message
            address = f"{address.rstrip('/')}/{urllib.parse.quote(message.id)}"
        data = orjson.dumps(shaped(message, self.settings.shape))
        return urllib.request.Request(  # noqa: S310 - http and https only
            address, data, headers, method="PUT" if matrix else "POST"
        )


def shaped(message: Message, shape: str) -> dict[str, Any]:
    body = printable(message.body)
    if shape == "slack":
        return {"text": f"*{_plain(message.subject)}*\n{_plain(body)}"}
    if shape == "mattermost":
        return {"text": f"**{_broken(message.subject)}**\n{_broken(body)}", "username": "leadline"}
    if shape == "matrix":
        return {"msgtype": "m.text", "body": f"{message.subject}\n\n{body}"}
    told = {"id": message.id, "subject": message.subject, "text": body}
    return {**told, "severity": message.severity}


def _plain(text: str) -> str:
    """
    Slack's three signs: nobody's file name calls the whole channel.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _broken(text: str) -> str:
    return text.replace("@", "@\u200b")


def _host(address: str) -> str:
    """
    Without the path: it is the secret of most webhooks.
    """
    return urllib.parse.urlsplit(address).netloc.rpartition("@")[2]


def build(settings: NotifierSettings) -> Webhook:
    return Webhook(settings.webhook)
