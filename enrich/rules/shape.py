"""
The shape of a command: what stays when numbers, hashes and folders are taken away, for grouping.
"""

import re

LONGEST = 200
_LOOKED_AT = 2000
_WORD_LONGEST = 40
_MORE = "…"
_HASH = re.compile(
    r"\b(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|0x[0-9a-fA-F]+"
    r"|(?=[0-9a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{8,})\b"
)
_A_DIGIT = re.compile(r"[0-9]")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*(?:[eE][+-]?\d+)?")
_REPEATED = re.compile(r"#(?:[-_.:,/x+]*#)+")


def command_shape(command_line: str | None) -> str:
    """
    COMMAND_LINE with numbers as #, folders as …/, long words cut and repeats told once.
    """
    parts = (command_line or "")[:_LOOKED_AT].split()
    if not parts:
        return ""
    shaped = [_folder(parts[0])]
    for part in parts[1:]:
        word = _word(part)
        if word == shaped[-1]:
            shaped[-1] = word + _MORE
        elif word + _MORE != shaped[-1]:
            shaped.append(word)
    text = " ".join(shaped)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + _MORE


def _folder(word: str) -> str:
    before, slash, last = word.rpartition("/")
    return f"{_MORE}/{last}" if slash and before else word


def _word(word: str) -> str:
    if not _A_DIGIT.search(word):
        return _cut(_plain(word))
    option, equals, value = "", "", word
    if word.startswith("-"):
        option, equals, value = word.partition("=")
        if not equals:
            return _cut(_HASH.sub("#", word))
    value = _folder(value)
    value = _REPEATED.sub("#", _DIGITS.sub("#", _HASH.sub("#", value)))
    return option + equals + _cut(value)


def _plain(word: str) -> str:
    """
    A word without digits: only its folders go.
    """
    if "/" not in word:
        return word
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    return option + equals + _folder(value)


def _cut(word: str) -> str:
    return word if len(word) <= _WORD_LONGEST else word[: _WORD_LONGEST - 1] + _MORE
