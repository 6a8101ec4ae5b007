"""
Secrets out of command lines and any other text, before anything is written or sent.

Redacting twice changes nothing more. Time grows with the length of the text only: no pattern here
begins with something that repeats.
"""

from __future__ import annotations

import re

import orjson

REDACTED = "***"  # as the shipper writes it, so that a hop changes nothing

_WORDS = (
    r"(?:password|passwd|passphrase|passcode|(?<![a-z])pass(?![a-z])|secret(?![a-z])"
    r"|token(?![a-z])|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?key"
    r"|credentials?(?![a-z]))"
)
_SEPARATOR = r"""\\?["']?(?:\s*:\s*|\s+=\s+|=)|(?P<space>["']?\s+(?=[^-\s=:]))"""
_VALUE = r"""(?:\*{3}|"[^"]*"?|'[^']*'?|[^\s&]+)"""
_VALUE_IN_LINE = r"""(?:\\?["'][^"'\\]*|[^\s&"'\\]+)"""  # a line that is no JSON: stop at any quote

# A text in lower case that holds none of these holds no secret that is known here.
_HINTS = (
    *("pass", "secret", "token", "key", "credential", "auth", "bearer", "://", "ghp_", "gho_"),
    *("ghu_", "ghs_", "ghr_", "github_pat", "glpat-", "hf_", "sk-", "akia", "xox", "eyj"),
    *("mysql", "mariadb", "curl", "redis", "ldap", "smb", "cifs"),
)
_NAME = re.compile(_WORDS + r"[\d_-]*$", re.IGNORECASE)
_URL = re.compile(r"""(://[^\s/:@"']{0,256}:)[^\s/@"']{1,256}@""")
_FORMS = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}"
    r"|sk-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
# Commands whose short option carries a password.
_COMMANDS = (
    (("mysql", "mariadb"), re.compile(r"(\s-p)(?=\S)" + _VALUE)),
    (("sshpass",), re.compile(r"(\s-p\s*)" + _VALUE)),
    (("curl",), re.compile(r"""(\s(?:-u|--user)[\s=]*["']?[^\s:"']*:)""" + _VALUE)),
    (("redis-cli",), re.compile(r"(\s-a\s+)" + _VALUE)),
    (("ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"), re.compile(r"(\s-w\s*)" + _VALUE)),
    (("smbclient", "mount.cifs"), re.compile(r"(\s-U\s*[^\s%]*%)" + _VALUE)),
)


def _keyed(value: str) -> re.Pattern[str]:
    return re.compile(rf"({_WORDS}[\d_-]*)({_SEPARATOR}){value}", re.IGNORECASE)


_KEYED, _KEYED_IN_LINE = _keyed(_VALUE), _keyed(_VALUE_IN_LINE)
_BEARER = re.compile(
    r"""(authorization["']?\s*[=:]\s*["']?(?:(?:bearer|basic|digest|token|negotiate)\s+)?"""
    r"""|\bbearer\s+(?=[^\s"']{8}))[^\s"'&]+""",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """
    TEXT with secrets replaced; the very same object when it holds none.
    """
    low = text.lower()
    if low == text.upper() and "://" not in text:  # numbers, say
        return text
    for hint in _HINTS:
        if hint in low:
            return _replace(text, _KEYED)
    return text


def redact_value(value: object, name: str = "") -> object:
    """
    Any JSON value redacted; a text whose NAME says that it is a secret goes altogether.
    """
    if isinstance(value, str):
        return REDACTED if value and _NAME.search(name) else redact(value)
    if isinstance(value, list):
        names = [name] + [item if _is_option(item) else name for item in value]
        return [redact_value(item, before) for item, before in zip(value, names, strict=False)]
    if isinstance(value, dict):
        return {key: redact_value(inner, str(key)) for key, inner in value.items()}
    return value


def redact_line(line: bytes) -> bytes:
    """
    A line as it came in, JSON or not, fit to be kept: UTF-8, no newline.
    """
    try:
        return orjson.dumps(redact_value(orjson.loads(line)))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
        text = line.decode(errors="replace").replace("\n", " ").replace("\r", " ")
        return _replace(text, _KEYED_IN_LINE).encode()


def _replace(text: str, keyed: re.Pattern[str]) -> str:
    for commands, pattern in _COMMANDS:
        if any(command in text for command in commands):
            text = pattern.sub(_after_first, text)
    text = _BEARER.sub(_after_first, text)
    text = keyed.sub(_after_name, text)
    text = _URL.sub(rf"\1{REDACTED}@", text)
    return _FORMS.sub(REDACTED, text)


def _after_first(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}"


def _after_name(match: re.Match[str]) -> str:
    if match["space"] and not _is_option(_word_before(match)):
        return match[0]
    return f"{match[1]}{match[2]}{REDACTED}"


def _word_before(match: re.Match[str]) -> str:
    start = match.string.rfind(" ", 0, match.start()) + 1
    return match.string[start : match.end(1)].lstrip("\"'")


def _is_option(item: object) -> bool:
    return isinstance(item, str) and item.startswith("-") and "=" not in item
