"""
What there is to translate, and the catalogues brought up to date with it.

    python -m leadline.web.translations

rewrites leadline/language/*.po: new texts are added without a translation, those nobody shows any
more are taken out, all are sorted. Texts come from three places: what stands in `_(…)`; the tables
of measures, dimensions and datasets; and the sentences that reports put together, with their
figures as `{name}` (leadline.language.said finds them again).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from leadline.language import FOLDER, languages
from leadline.language.sentences import CLAUSES
from leadline.language.spaces import spaced

if TYPE_CHECKING:
    from babel.messages.catalog import Message

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "web" / "templates"
ROOMS = ("web", "render", "reports")
ONE, SEVERAL = ("_", "later", "gettext"), ("ngettext",)
# Modules whose finished sentences are shown: every text in them that reads like one.
SENTENCES = (
    "leadline.query.answer",
    "leadline.query.coverage",
    "leadline.query.moments",
    "leadline.query.public",
    "leadline.query.refusals",
    "leadline.query.unfinished",
    "leadline.query.unowned",
    "leadline.reports.advice",
    "leadline.reports.agreement",
    "leadline.reports.cards",
    "leadline.reports.detectors.cards",
    "leadline.reports.detectors.jobs",
    "leadline.reports.detectors.nodes",
    "leadline.reports.detectors.processes",
    "leadline.reports.detectors.reserved",
    "leadline.reports.detectors.sizes",
    "leadline.reports.scale",
    "leadline.reports.scale_limits",
)
# Modules whose errors a reader of pages can meet: what is raised in them.
ERRORS = (
    "leadline.query.compile",
    "leadline.query.dimensions",
    "leadline.query.kinds",
    "leadline.query.measures",
    "leadline.query.periods",
    "leadline.query.question",
    "leadline.query.runs",
    "leadline.query.tables",
    "leadline.reports.findings",
    "leadline.reports.grants",
    "leadline.reports.job",
    "leadline.reports.job_runs",
    "leadline.reports.life",
    "leadline.store.scope",
    "leadline.web.links",
    "leadline.web.pages.burndown",
    "leadline.web.pages.compare",
    "leadline.web.pages.drawing",
    "leadline.web.pages.findings",
    "leadline.web.pages.node",
    "leadline.web.pages.states",
    "leadline.web.pages.usage",
    "leadline.web.paging",
)
_WORDS = re.compile(r"[a-z]{2,}\W* \W*\w+|\w+\W* \W*[a-z]{2,}", re.IGNORECASE)
PLUMBING = {"amount", "ceil", "counted", "len", "limits", "math", "number", "or", "row", "self"}
PLUMBING |= {"str", "view"}
_OPTION = re.compile(r"(--?[\w-]+=?(\{\w+\}|\d+)?[: ]?)+")
HEAD = """# {name} for leadline.
# Sorted, one text after the other. `python -m leadline.web.translations` adds what is new and
# takes out what nobody shows any more; tests/web/test_translations.py wants every text translated.
"""

Text = str | tuple[str, ...]


def wanted() -> set[Text]:
    """
    Every text a reader may see; a pair where the number decides.
    """
    return {*_marked(), *_tables(), *_sentences()}


def _marked() -> Iterator[Text]:
    for path in sorted(TEMPLATES.glob("*.html")):
        with path.open("rb") as source:
            found = babel_extract(source, [*ONE, *SEVERAL], (), {"trimmed": "true"})
            for _line, function, message, _comments in found:
                texts = [message] if isinstance(message, str) else list(message or ())
                plain = [text for text in texts if isinstance(text, str)]
                if plain:
                    yield plain[0] if function in ONE else (plain[0], plain[1])
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield from marked(path.read_text(encoding="utf-8"))


def marked(source: str) -> Iterator[Text]:
    """
    What stands in `_(…)` and `ngettext(…)`, within f-strings too.
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [part.value for part in node.args if isinstance(part, ast.Constant)]
        if node.func.id in ONE and len(node.args) == 1 and texts:
            yield str(texts[0])
        if node.func.id in SEVERAL and len(texts) >= 2:
            yield str(texts[0]), str(texts[1])


def _tables() -> Iterator[str]:
    from leadline.formats import DATASETS
    from leadline.query import MEASURES
    from leadline.query.dimensions import DIMENSIONS, WEEKDAYS
    from leadline.reports.detectors import DETECTORS

    for measure in MEASURES:
        yield from (measure.title, measure.sentence)
    for dimension in DIMENSIONS:
        yield from (dimension.title, dimension.none, *dimension.classes)
    yield CLAUSES
    yield from (*WEEKDAYS, "yes", "no", *DETECTORS)
    yield from (dataset.meaning for dataset in DATASETS.values())


def _sentences() -> Iterator[str]:
    for name in SENTENCES:
        source = Path(str(import_module(name).__file__)).read_text(encoding="utf-8")
        yield from sentences(source)
    for name in ERRORS:
        source = Path(str(import_module(name).__file__)).read_text(encoding="utf-8")
        yield from errors(source)


def errors(source: str) -> set[str]:
    """
    What a module raises, and the hints it puts behind.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            parts = list(node.exc.args)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "hint":
            value = node.value
            parts = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        texts = (_text_of(part) for part in parts)
        found |= {text for text in texts if _WORDS.search(re.sub(r"\{\w+\}", "", text))}
    return found


def sentences(source: str) -> set[str]:
    """
    The texts of a module that read like sentences: two words or more, and no documentation.
    """
    tree = ast.parse(source)
    skipped = {id(node) for node in _unseen(tree)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "counted":
            found |= _nouns(node)
        if id(node) in skipped:
            continue
        text = _text_of(node)
        if text and _WORDS.search(re.sub(r"\{\w+\}", "", text)) and not _OPTION.fullmatch(text):
            found.add(text.strip())
    return found


def _nouns(call: ast.Call) -> set[str]:
    """
    What `counted` may say, which stands in the braces of a sentence.
    """
    told = [str(part.value) for part in call.args if isinstance(part, ast.Constant)]
    if not told:
        return set()
    one, *several = told
    return {f"1 {one}", f"{{count}} {several[0] if several else f'{one}s'}"}


def _text_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts: list[str] = []
    names: dict[str, str] = {}
    for place, part in enumerate(node.values):
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            told = ast.unparse(part.value)
            name = names.setdefault(told, _name(told, set(names.values()), place))
            parts.append(f"{{{name}}}")
    return "".join(parts)


def _name(told: str, taken: set[str], place: int) -> str:
    """
    What a figure is called in the catalogue: the last word of what it is in the code.
    """
    words = [word for word in re.findall(r"[a-z_]{2,}", told) if word not in PLUMBING]
    name = (words[-1] if words else "").strip("_") or "value"
    return name if name not in taken else f"{name}{place}"


def _unseen(tree: ast.AST) -> Iterator[ast.AST]:
    """
    Documentation, pieces of f-strings, type names, keys and what is compared with.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr):
                yield first.value
        if isinstance(node, ast.JoinedStr):
            yield from (part for part in ast.walk(node) if part is not node)
        if isinstance(node, ast.Subscript):
            yield from ast.walk(node.slice)


def update(code: str) -> tuple[int, int]:
    """
    Rewrite a catalogue; how many texts it holds, and how many of them are not translated.
    """
    path = FOLDER / f"{code}.po"
    old = _read(code)
    new = Catalog(locale=code, fuzzy=False)
    for text in wanted():
        known = old.get(text if isinstance(text, str) else text[0])
        told = (known.string if known is not None and _same(known, text) else "") or ""
        several = () if isinstance(told, str) else tuple(spaced(form, code) for form in told)
        new.add(text, several or spaced(str(told), code))
    with path.open("wb") as out:
        write_po(out, new, sort_output=True, width=100, omit_header=False, no_location=True)
    _tidy(path, code)
    return len(new), len(untranslated(code))


def _tidy(path: Path, code: str) -> None:
    """
    Dates and names of tools would change with every run.
    """
    text = path.read_text(encoding="utf-8")
    head = text.index("msgid")
    end = text.index("\n\n", head)
    plural = re.search(r'"Plural-Forms: [^"]*"', text[head:end])
    header = [
        'msgid ""',
        'msgstr ""',
        f'"Language: {code}\\n"',
        '"Content-Type: text/plain; charset=utf-8\\n"',
        '"Content-Transfer-Encoding: 8bit\\n"',
        plural[0] if plural else "",
    ]
    name = Locale.parse(code).get_display_name("en")
    path.write_text(HEAD.format(name=name) + "\n".join(header) + text[end:], encoding="utf-8")


def _same(known: Message, text: Text) -> bool:
    return known.id == text if isinstance(text, str) else tuple(known.id) == text


def _read(code: str) -> Catalog:
    with (FOLDER / f"{code}.po").open("rb") as source:
        return read_po(source, locale=code)


def translated(code: str) -> dict[Text, Text]:
    """
    Every text of a catalogue with its translation, which may be empty.
    """

    def plain(text: str | list[str] | tuple[str, ...]) -> Text:
        return text if isinstance(text, str) else tuple(text)

    return {plain(m.id): plain(m.string or "") for m in _read(code) if m.id}


def untranslated(code: str) -> list[Text]:
    return [text for text, told in translated(code).items() if not told or not all(told)]


def main() -> None:
    for code in languages()[1:]:
        texts, missing = update(code)
        sys.stdout.write(f"{code}: {texts} texts, {missing} not translated\n")


if __name__ == "__main__":
    main()
