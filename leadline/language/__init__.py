"""
The reader's language: what is written here in English is looked up in a catalogue of another.

English is in the code; every other language is a gettext catalogue beside this file (fr.po), read
when it is first asked for. Which language is spoken is a matter of one thread at a time.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.language.sentences import Sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGLISH = "en"
FOLDER = Path(__file__).parent

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


@cache
def languages() -> tuple[str, ...]:
    """
    Codes of what can be read: English, and whatever has a catalogue.
    """
    return (ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.po")))


def use(code: str) -> None:
    _spoken.set(code if code in languages() else ENGLISH)


def current() -> str:
    return _spoken.get()


@contextmanager
def spoken(code: str) -> Iterator[None]:
    """
    Speak another language for a while.
    """
    before = current()
    use(code)
    try:
        yield
    finally:
        use(before)


def gettext(text: str) -> str:
    return _catalogue(current()).gettext(text) if text else ""


def ngettext(one: str, many: str, count: float) -> str:
    return _catalogue(current()).ngettext(one, many, int(count))


def said(text: str) -> str:
    """
    A finished sentence, figures and names already in it, in the reader's language: it is matched
    with the sentences of the catalogue. One that none of them fits stays as it is.
    """
    code = current()
    return text if code == ENGLISH else _sentences(code).translated(text)


_ = gettext


_words: dict[str, str] = {}


def word(text: str) -> str:
    """
    A word of ours among names of theirs, in the reader's language: unmatched, over a day.
    """
    told = gettext(text)
    _words[told] = text
    return told


def english(name: str) -> str:
    """
    NAME as it is in English if it is such a word: the same thing has one colour in all languages.
    """
    return _words.get(name, name)


def later(text: str) -> str:
    """
    Marks a word of a table for the catalogue; it is looked up where it is shown.
    """
    return text


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == ENGLISH:
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (FOLDER / f"{code}.po").open("rb") as source:
        catalogue = read_po(source, locale=code)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def _sentences(code: str) -> Sentences:
    known = _catalogue(code)._catalog  # type: ignore[attr-defined]
    return Sentences(
        {text: told for text, told in known.items() if text and isinstance(text, str)}, code
    )
