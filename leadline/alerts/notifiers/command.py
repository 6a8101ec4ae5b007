"""
Notifier `command`: a program gets the text on its standard input, as SMS gateways want it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from leadline.alerts.notifiers.contract import Message, NotNowError, printable
from leadline.alerts.settings import CommandSettings, NotifierSettings
from leadline.errors import SettingsError


class Command:
    def __init__(self, settings: CommandSettings) -> None:
        if not settings.run:
            raise SettingsError("notifiers.command.run: empty; name the program and its arguments")
        self.settings = settings

    def send(self, message: Message, address: str) -> None:
        values = {"{address}": address, "{subject}": message.subject}
        words = [values.get(word, word) for word in self.settings.run]  # whole words, and no shell
        told = {"LEADLINE_ID": message.id, "LEADLINE_SUBJECT": message.subject}
        told |= {"LEADLINE_ADDRESS": address, "LEADLINE_SEVERITY": message.severity}
        try:
            child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, **told},
                start_new_session=True,
            )
        except OSError as error:
            raise NotNowError(f"{words[0]}: {error.strerror}") from error
        text = f"{message.subject}\n\n{printable(message.body)}"
        try:
            _, said = child.communicate(text.encode(), timeout=self.settings.timeout)
        except subprocess.TimeoutExpired as error:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            what = f"{words[0]}: no end after {self.settings.timeout:.0f} s"
            raise NotNowError(what) from error
        if child.returncode:
            last = said.decode(errors="replace").strip().splitlines()[-1:]
            raise NotNowError(f"{words[0]}: ended with {child.returncode} {' '.join(last)[:200]}")


def build(settings: NotifierSettings) -> Command:
    return Command(settings.command)
