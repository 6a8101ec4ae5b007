"""
People who are forgotten: what of a document names one, and what becomes of it.

`changed` is the definition; stores that have a quicker way come to the same documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import orjson

from leadline.formats import DATASETS, Dataset, Document, Type

OWNER = "user.name"
NUMBER = "user.id"
# Fields beside the owner that hold nothing but somebody's name.
OTHERS = ("job.cancelled_by", "state.reason_user")
# What people wrote themselves: within her own documents her name is taken out of it.
TEXTS = frozenset(
    {
        "user.group", "user.metagroup", "project", "labels", "process.command_line",
        "process.executable", "command.shape", "job.name", "job.comment", "job.work_dir",
        "job.command_line", "job.account_text", "job.category", "event.object", "event.reason",
        "event.names", "message", "file.path",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class People:
    """
    Names, each with the pseudonym that takes its place; None: her documents are deleted.
    """

    aliases: Mapping[str, str | None]
    ids: Mapping[str, str] = field(default_factory=dict)  # user.id → its pseudonym

    def changed(self, document: Document) -> Document | None:
        """
        The document as it may be kept; itself where it names none of them, None where it goes.
        """
        name = document.get(OWNER)
        owned = isinstance(name, str) and name in self.aliases
        named = [one for one in OTHERS if document.get(one) in self.aliases]
        if not owned and not named:
            return document
        alias = self.aliases[str(name)] if owned else ""
        if alias is None:
            return None
        kept = dict(document)
        for one in named:
            other = self.aliases[str(document[one])]
            if other is None:
                del kept[one]
            else:
                kept[one] = other
        if owned:
            self._rename(kept, str(name), alias)
        return kept

    def _rename(self, document: Document, name: str, alias: str) -> None:
        document[OWNER] = alias
        if NUMBER in document:
            number = str(document[NUMBER])
            document[NUMBER] = self.ids.get(number, number)
        word = re.compile(pattern(name), re.ASCII)
        for one in TEXTS & document.keys():
            document[one] = _without(document[one], word, alias)


def pattern(name: str) -> str:
    """
    The name as a word of its own, in the words RE2 and Python share.
    """
    return rf"\b{re.escape(name)}\b"


def _without(value: object, word: re.Pattern[str], alias: str) -> object:
    if isinstance(value, str):
        return word.sub(alias, value)
    if isinstance(value, list):
        return sorted({word.sub(alias, str(one)) for one in value})
    return orjson.loads(word.sub(alias, orjson.dumps(value).decode()))


@cache
def naming(dataset: str) -> tuple[str, ...]:
    """
    The fields of a dataset that hold somebody's name.
    """
    fields = DATASETS[dataset].by_name
    return tuple(name for name in (OWNER, *OTHERS) if name in fields)


def texts(dataset: Dataset) -> tuple[str, ...]:
    return tuple(field.name for field in dataset.fields if field.name in TEXTS)


def is_set(dataset: Dataset, name: str) -> bool:
    return dataset.by_name[name].type is Type.SET
