"""
Notifier `file`: one JSON line for each message, each once however often it is tried.
"""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from leadline.alerts.notifiers.contract import Message, NotNowError, RefusedError
from leadline.alerts.settings import NotifierSettings

LOOK_BACK = 1 << 20


class File:
    def send(self, message: Message, address: str) -> None:
        if not address:
            raise RefusedError("no file is named; people.NAME.address names it")
        told = {"id": message.id, "severity": message.severity, "subject": message.subject}
        line = orjson.dumps({**told, "text": message.body}, option=orjson.OPT_APPEND_NEWLINE)
        try:
            with Path(address).expanduser().open("ab+") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(end - LOOK_BACK, 0))
                tail = file.read()
                if message.id.encode() in tail and tail.endswith(b"\n"):
                    return  # written by an attempt that did not live to say so
                if tail and not tail.endswith(b"\n"):
                    line = b"\n" + line  # the torn line of one that did not live at all
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise NotNowError(f"{address}: {error.strerror}") from error


def build(settings: NotifierSettings) -> File:
    return File()
