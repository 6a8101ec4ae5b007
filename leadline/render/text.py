"""
Text that is safe to print, and numbers as people read them.

Command lines and names come from anybody who can start a process: no byte of theirs may steer a
terminal, become a formula in a spreadsheet or break a line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from textwrap import wrap

GIB = 2**30
BLOCKS = "▁▂▃▄▅▆▇█"
NOT_MEASURED = "not measured"

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ONE_WORD = re.compile(r"(?<=\d) (?=d \d\d:|GiB\b|%|[sh]\b|min\b)|(?<=\d d) (?=\d\d:)")
_HELD = "\u00a0"  # where a line does not break


def safe_text(text: str) -> str:
    """
    TEXT with everything that is not plainly shown written as an escape.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    # Cc steers terminals, Cf turns text around or hides it, Cs and Cn cannot be encoded or known.
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"):
        code = ord(char)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    return char


def within(title: str) -> str:
    """
    TITLE as it stands within a sentence: "end state", but "GPU model" and "QOS".
    """
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def safe_cell(text: str) -> str:
    """
    TEXT for a spreadsheet: what would be taken for a formula is led by an apostrophe.
    """
    shown = safe_text(text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def width_of(text: str) -> int:
    """
    Columns TEXT takes on a terminal.
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)


def fit(text: str, width: int) -> str:
    """
    TEXT cut to WIDTH columns, with … where something is missing.
    """
    if width_of(text) <= width:
        return text
    kept = ""
    for char in text:
        if width_of(kept + char) > width - 1:
            break
        kept += char
    return f"{kept}…"


def paragraphs(lines: Iterable[str], width: int = 0) -> str:
    """
    Lines made safe; one that is too long goes on below itself, further in, and no figure is parted
    from its unit. WIDTH 0 is no limit.
    """
    found: list[str] = []
    for line in map(safe_text, lines):
        inner = " " * (len(line) - len(line.lstrip(" •")))
        if width > len(inner) + 10 and width_of(line) > width:
            held = _ONE_WORD.sub(_HELD, line)
            parts = wrap(held, width, subsequent_indent=inner or "  ", break_on_hyphens=False)
            found += [part.replace(_HELD, " ") for part in parts]
        else:
            found.append(line)
    return "\n".join(found)


def number(value: float | None, unit: str = "") -> str:
    """
    A value in its unit, without the unit: that stands in the head of the column.
    """
    if value is None:
        return "–"
    if unit == "bytes":
        return _plain(value / GIB)
    if unit == "seconds":
        return duration(value)
    if unit == "percent":
        return f"{value:,.1f}"
    return _plain(value) if unit else f"{value:,.0f}"


def unit_name(unit: str) -> str:
    return {"bytes": "GiB", "percent": "%", "seconds": "d h:m", "hours": "", "ratio": ""}.get(
        unit, unit
    )


def _plain(value: float) -> str:
    """
    Below 10 one decimal, more where even that would be 0; above whole, thousands apart.
    """
    if value and abs(value) < 0.05:
        return f"{value:.1g}" if abs(value) >= 0.0001 else f"{value:.0e}"
    return f"{value:,.1f}" if abs(value) < 9.95 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """
    2 d 04:10, 04:10, or 12 s.
    """
    if abs(seconds) < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    days, rest = divmod(minutes, 1440)
    clock = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{days} d {clock}" if days else clock


def bar(share: float | None, width: int) -> str:
    """
    A bar in eighths of a column.
    """
    if share is None or share <= 0:
        return ""
    eighths = round(min(share, 1.0) * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def sparkline(values: list[float | None], top: float | None = None) -> str:
    """
    One character a value, from 0 to TOP; a blank where nothing was measured.
    """
    known = [value for value in values if value is not None]
    highest = top or max(known, default=0.0) or 1.0

    def char(value: float | None) -> str:
        if value is None:
            return " "
        return BLOCKS[min(7, max(0, int(value / highest * 8)))]

    return "".join(map(char, values))
