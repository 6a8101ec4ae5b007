"""Words, finished sentences and figures in the reader's language."""

from __future__ import annotations

import threading

import pytest

from leadline.language import current, gettext, languages, ngettext, said, spoken, use
from leadline.language.figures import figure
from leadline.language.sentences import Sentences
from leadline.language.spaces import spaced


def test_words_are_looked_up_in_the_language_spoken() -> None:
    """
    The same text is English by itself and French where French is spoken, and only there.
    """
    assert gettext("Users") == "Users"
    with spoken("fr"):
        assert gettext("Users") == "Utilisateurs"
        assert ngettext("{count} run, the newest first.", "{count} runs, the newest first.", 2) == (
            "{count} exécutions, la plus récente d’abord."
        )
    assert gettext("Users") == "Users"


def test_unknown_languages_are_english() -> None:
    """
    A language without a catalogue leaves the pages English.
    """
    with spoken("tlh"):
        assert current() == "en"
        assert gettext("Users") == "Users"


def test_each_thread_speaks_its_own() -> None:
    """
    Two readers served at the same time do not change each other's language.
    """
    heard: list[str] = []
    with spoken("fr"):
        thread = threading.Thread(target=lambda: heard.append(gettext("Users")))
        thread.start()
        thread.join()
        assert gettext("Users") == "Utilisateurs"
    assert heard == ["Users"]


def test_finished_sentences_keep_their_figures() -> None:
    """
    A sentence of a report is found by its words; what stood in it is set into the other one.
    """
    told = "3.1 of 16 cores were busy on average (19 %)."
    assert said(told) == told
    with spoken("fr"):
        assert said(told) == "3,1 cœurs sur 16 étaient occupés en moyenne (19\u00a0%)."


def test_sentences_within_sentences_are_told_too() -> None:
    """
    What a sentence was put together from is translated as well.
    """
    with spoken("fr"):
        told = said("waits for 1,500 of the cluster's 64 cores: it can never start")
    cause, end = told.split("\u00a0: ")
    assert cause == "attend 1\u202f500 sur 64 cœurs que compte la grappe"
    assert end == "elle ne pourra jamais démarrer"


def test_clauses_are_told_one_by_one() -> None:
    """
    What stands between semicolons is translated by itself, and the mark is set as French sets it.
    """
    saw = "samples saw 4.0 % of the 150.0 core hours accounted for 30 jobs"
    with spoken("fr"):
        told = said(f"{saw}; never sampled: 29 jobs (145.0 h); not accounted: 1 job (1.5 h)")
    assert told == (
        "les relevés ont vu 4,0\u202f% des 150,0 heures cœur comptées pour 30 tâches"
        "\u202f; jamais relevées\u00a0: 29 tâches (145,0\u00a0h)"
        "\u202f; non comptées\u00a0: 1 tâche (1,5\u00a0h)"
    )


def test_names_are_not_translated() -> None:
    """
    A user called `users` keeps the name, in a sentence and alone within one.
    """
    known = Sentences({"users": "utilisateurs", "{name} ran it": "lancé par {name}"}, "fr")
    assert known.translated("users ran it") == "lancé par users"


def test_what_no_sentence_fits_stays() -> None:
    """
    Text that is in no catalogue is shown as it is, however long or strange.
    """
    with spoken("fr"):
        for text in ("scontrol show job 17", "{broken", "a b " * 5000, ""):
            assert said(text) == text


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("41,230.5 h", "41\u202f230,5 h"),
        ("0.3 of 1,024", "0,3 of 1\u202f024"),
        ("fox/1234567", "fox/1234567"),
        ("slurm 22.05.3", "slurm 22.05.3"),
        ("c1-7, 12:30", "c1-7, 12:30"),
        ("2026-11-21", "2026-11-21"),
    ],
)
def test_figures_are_written_as_the_language_does(english: str, french: str) -> None:
    """
    Figures change their marks; versions, dates, times and names do not.
    """
    assert figure(english, "fr") == french
    assert figure(english, "en") == english


def test_catalogues_are_found() -> None:
    """
    English is there without a catalogue, French with one; `use` takes both.
    """
    assert languages()[0] == "en"
    assert "fr" in languages()
    use("fr")
    assert current() == "fr"
    use("en")


def test_spaces_are_set_as_french_sets_them() -> None:
    """
    What is typed with plain spaces gets those that do not break; commands and English keep theirs.
    """
    typed = "« {name} » : {share} % de 1 024 Gio ; `scontrol show job : x` ?"
    assert spaced(typed, "fr") == (
        "«\u00a0{name}\u00a0»\u00a0: {share}\u202f% de 1\u202f024\u00a0Gio\u202f; "
        "`scontrol show job : x`\u202f?"
    )
    assert spaced(typed, "en") == typed
