"""
Notifier `syslog`: one datagram (RFC 3164) to the local socket or over UDP.
"""

from __future__ import annotations

import os
import socket

from leadline.alerts.notifiers.contract import Message, NotNowError
from leadline.alerts.settings import NotifierSettings, SyslogSettings

DAEMON = 3
LEVEL = {"info": 6, "warning": 4, "critical": 2}


class Syslog:
    def __init__(self, settings: SyslogSettings) -> None:
        self.settings = settings

    def send(self, message: Message, address: str) -> None:
        first = " ".join(message.body.split())[:700]
        mark = DAEMON * 8 + LEVEL.get(message.severity, 6)
        line = f"<{mark}>leadline[{os.getpid()}]: {message.subject}: {first} id={message.id}"
        target = self.settings.target
        try:
            if target.startswith("/"):
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unix:
                    unix.settimeout(self.settings.timeout)
                    unix.connect(target)
                    unix.send(line.encode())
                return
            host, _, port = target.rpartition(":")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                udp.settimeout(self.settings.timeout)
                udp.sendto(line.encode(), (host or target, int(port)))
        except (OSError, ValueError) as error:
            raise NotNowError(f"{target}: {error}") from error


def build(settings: NotifierSettings) -> Syslog:
    return Syslog(settings.syslog)
