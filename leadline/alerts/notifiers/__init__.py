"""
Every notifier by name. To add one: write its module, then its line here.
"""

from __future__ import annotations

from typing import Any

from leadline.alerts.notifiers import command, file, smtp, syslog, webhook
from leadline.alerts.notifiers.contract import (
    Attachment,
    Letter,
    Message,
    Notifier,
    NotNowError,
    RefusedError,
)
from leadline.alerts.settings import NotifierSettings
from leadline.errors import SettingsError
from leadline.settings.plugins import plugged

BUILT_IN: dict[str, Any] = {
    "smtp": smtp,
    "webhook": webhook,
    "command": command,
    "file": file,
    "syslog": syslog,
}

__all__ = [
    "BUILT_IN",
    "Attachment",
    "Letter",
    "Message",
    "NotNowError",
    "Notifier",
    "RefusedError",
    "build_notifier",
]


def build_notifier(name: str, settings: NotifierSettings) -> Notifier:
    known = {**BUILT_IN, **plugged("notifiers")}
    if name not in known:
        raise SettingsError(f"notifier {name!r} is none of {', '.join(known)}")
    made: Notifier = known[name].build(settings)
    return made
