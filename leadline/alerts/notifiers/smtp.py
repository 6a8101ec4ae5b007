"""
Notifier `smtp`: one mail to one address.
"""

from __future__ import annotations

import smtplib
import ssl
from contextlib import suppress
from email.message import EmailMessage
from email.utils import formatdate

from leadline.alerts.notifiers.contract import Message, NotNowError, RefusedError, printable
from leadline.alerts.settings import NotifierSettings, SmtpSettings
from leadline.errors import SettingsError


class Smtp:
    def __init__(self, settings: SmtpSettings) -> None:
        self.settings = settings

    def send(self, message: Message, address: str) -> None:
        mail = self.compose(message, address)
        try:
            server = self.connect()
            try:
                server.send_message(mail, self.settings.sender, [address])
            finally:
                # The mail is taken, or it is not: no goodbye changes that.
                with suppress(smtplib.SMTPException, OSError):
                    server.quit()
        except smtplib.SMTPRecipientsRefused as error:
            ((code, text),) = error.recipients.values()
            raise _judged(code, text) from error
        except smtplib.SMTPResponseException as error:
            raise _judged(error.smtp_code, error.smtp_error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise NotNowError(f"{self.settings.host}: {error}") from error

    def compose(self, message: Message, address: str) -> EmailMessage:
        if not address.isprintable() or "@" not in address or any(c in address for c in " ,;<>"):
            raise RefusedError(f"{address!r} is no mail address")
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = self.settings.sender, address, message.subject
        mail["Date"] = formatdate(localtime=False)
        mail["Message-ID"] = f"<{message.id}@leadline>"
        mail["Auto-Submitted"] = "auto-generated"
        mail["X-Leadline-Severity"] = message.severity
        mail.set_content(printable(message.body))
        if message.file is not None:
            kind, _, sub = message.file.kind.partition("/")
            mail.add_attachment(
                message.file.data, maintype=kind, subtype=sub, filename=message.file.name
            )
        return mail

    def connect(self) -> smtplib.SMTP:
        wanted = self.settings
        safe = ssl.create_default_context(cafile=str(wanted.ca_file) if wanted.ca_file else None)
        server: smtplib.SMTP
        if wanted.tls == "tls":
            server = smtplib.SMTP_SSL(
                wanted.host, wanted.port, timeout=wanted.timeout, context=safe
            )
        else:
            server = smtplib.SMTP(wanted.host, wanted.port, timeout=wanted.timeout)
        if wanted.tls == "starttls":
            server.starttls(context=safe)
        if wanted.username and wanted.password_file:
            try:
                password = wanted.password_file.read_text(encoding="utf-8").strip()
            except OSError as error:
                where = f"{wanted.password_file}: cannot be read: {error.strerror}"
                raise SettingsError(where) from None
            server.login(wanted.username, password)
        return server


def _judged(code: int, text: bytes | str) -> NotNowError | RefusedError:
    said = f"{code} {text.decode(errors='replace') if isinstance(text, bytes) else text}"
    return RefusedError(said) if 500 <= code < 600 and code not in (530, 535) else NotNowError(said)


def build(settings: NotifierSettings) -> Smtp:
    return Smtp(settings.smtp)
