"""
What an address of the API is: one entry here is the view, its checks and its documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from werkzeug.wrappers import Response

from leadline.errors import QuestionError
from leadline.settings.typed import near

Kind = Literal["string", "integer"]
Schema = dict[str, object]
BASE = "/api/v1"
FORMAT = "format"
BESIDE = frozenset({FORMAT, "cursor"})  # what a parameter that says everything else leaves to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    name: str
    meaning: str
    kind: Kind = "string"
    default: str = ""
    example: str = ""
    choices: tuple[str, ...] = ()
    most: int | None = None
    required: bool = False
    alone: bool = False  # it says everything but how to answer, and where to go on

    def schema(self) -> Schema:
        found: Schema = {"type": self.kind}
        if self.kind == "integer":
            found["minimum"] = 1
        if self.most is not None:
            found["maximum"] = self.most
        if self.choices:
            found["enum"] = list(self.choices)
        if self.default:
            found["default"] = int(self.default) if self.kind == "integer" else self.default
        return found

    def check(self, text: str) -> str:
        """
        TEXT as it was given, or the default; refused by name where it cannot be meant.
        """
        text = text.strip() or self.default
        if self.required and not text:
            raise QuestionError(f"{self.name}: missing; write {self.name}={self.example}")
        if self.choices and text not in self.choices:
            choices = " or ".join(self.choices)
            raise QuestionError(f"{self.name} {text[:40]}: write {choices}")
        if self.kind == "integer" and text:
            most = self.most or 10**9
            if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
                raise QuestionError(f"{self.name} {text[:20]}: write a number from 1 to {most}")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """
    VIEW takes the checked parameters by name, and the parts of the path.
    """

    path: str  # below /api/v1, parts in <…> as Flask writes them
    name: str
    view: Callable[..., Response]
    meaning: str
    answer: Schema  # of the JSON
    parameters: tuple[Parameter, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """
        The names within the path.
        """
        inside = [part.partition(">")[0] for part in self.path.split("<")[1:]]
        return tuple(part.rpartition(":")[2] for part in inside)

    @property
    def forms(self) -> tuple[str, ...]:
        """
        What `format` may say.
        """
        known = next((p for p in self.parameters if p.name == FORMAT), None)
        return known.choices if known else ("json",)

    def read(self, given: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """
        Every parameter by name, checked; one nobody knows is refused, and so is what would be
        passed over: a second value, a field beside one that stands alone.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        said = {name for name, texts in given.items() if any(text.strip() for text in texts)}
        for name, texts in given.items():
            if name not in known:
                raise QuestionError(f"unknown parameter {name[:40]!r}{near(name, known)}")
            if len(texts) > 1:
                raise QuestionError(f"{name}: given {len(texts)} times; write it once")
            beside = sorted(said - {name} - BESIDE)
            if name in said and known[name].alone and beside:
                raise QuestionError(f"{name}: says it all; leave out {', '.join(beside)}")
        return {name: known[name].check("".join(given.get(name, ()))) for name in known}


def object_of(required: Sequence[str] = (), **properties: object) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        **({"required": list(required)} if required else {}),
    }


def list_of(item: object) -> Schema:
    return {"type": "array", "items": item}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
ANYTHING: Schema = {"type": "object", "additionalProperties": True}
