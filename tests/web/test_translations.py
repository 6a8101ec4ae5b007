"""The catalogues: every text a reader may see is translated, and none that nobody sees is kept."""

from __future__ import annotations

import re

import pytest

from leadline.language import languages
from leadline.web.translations import Text, marked, sentences, translated, untranslated, wanted

OTHERS = languages()[1:]
BRACES = re.compile(r"\{\w+\}")


@pytest.fixture(scope="module")
def texts() -> set[Text]:
    return wanted()


def test_there_is_much_to_translate(texts: set[Text]) -> None:
    """
    Templates, code, tables and reports are all looked through.
    """
    assert {"To the content", "core hours used", "unmatched", "Monday"} <= texts
    assert "It was ended at its time limit, {asked}." in texts
    assert len(texts) > 500


@pytest.mark.parametrize("code", OTHERS)
def test_no_translation_is_missing_or_unused(texts: set[Text], code: str) -> None:
    """
    `python -m leadline.web.translations` brings a catalogue up to date; then it wants translating.
    """
    known = set(translated(code))
    assert texts - known == set(), "python -m leadline.web.translations adds them"
    assert known - texts == set(), "python -m leadline.web.translations takes them out"
    assert untranslated(code) == []


@pytest.mark.parametrize("code", OTHERS)
def test_translations_keep_what_is_set_into_them(code: str) -> None:
    """
    A figure that stands in a sentence stands in its translation as well, under the same name.
    """
    for text, told in translated(code).items():
        forms = [told] if isinstance(told, str) else list(told)
        wholes = [text] if isinstance(text, str) else list(text)
        for form, whole in zip(forms, wholes, strict=True):
            assert set(BRACES.findall(form)) == set(BRACES.findall(whole)), text


def test_sentences_of_a_report_are_found() -> None:
    """
    Figures become names in braces; documentation, options and field names are left alone.
    """
    source = '''
"""Not this line."""
def told(view):
    """Nor this one."""
    text = f"{view.used:.0f} of {view.asked} cores were busy"
    return text, "job.id", "--gpus=1", "put many into one job"
'''
    assert sentences(source) == {"{used} of {asked} cores were busy", "put many into one job"}


def test_marked_texts_are_found_within_others() -> None:
    """
    What stands in `_(…)` within an f-string, or counts, is found; variables are not.
    """
    source = 'f"◂ {_(\'earlier\')}"; ngettext("{n} run", "{n} runs", 2); _(name); later("Users")'
    assert set(marked(source)) == {"earlier", ("{n} run", "{n} runs"), "Users"}
