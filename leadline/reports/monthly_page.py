"""
A report as one HTML file that fetches nothing, as plain text for a mail, and as PDF by a browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import datetime
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from leadline.errors import LeadlineError
from leadline.render import Column, Table, render, safe_text
from leadline.render.table import written
from leadline.reports.monthly import Part, Report, newest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PRINTING = 90.0  # seconds a browser may take
STYLE = """
@page { size: A4; margin: 16mm 15mm }
:root { color-scheme: light; --ink: #16181d; --soft: #5c636d; --line: #d9dce0; --bar: #4477aa }
* { box-sizing: border-box }
html { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: #fefefd;
  font-variant-numeric: tabular-nums }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; break-after: avoid }
.answer { font-size: 1.15rem; max-width: 70ch; overflow-wrap: anywhere }
.soft { color: var(--soft); font-size: .9rem }
figure { margin: .6rem 0; break-inside: avoid }
svg.chart { width: 100%; height: auto; max-height: 22rem }
table { border-collapse: collapse; width: 100%; break-inside: auto }
tr { break-inside: avoid }
th, td { text-align: left; padding: .22rem .7rem .22rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: break-word }
th { font-weight: 600 }
.n { text-align: right; white-space: nowrap }
.n + :not(.n) { padding-left: 1rem }
td:first-child { min-width: 11rem; overflow-wrap: anywhere }
tfoot td { color: var(--soft) }
dt { font-weight: 600; margin-top: .6rem } dd { margin: 0; color: var(--soft) }
""".strip()


def _below(title: str, kind: str, inner: str) -> str:
    return f'<h2>{title}</h2>\n<{kind} class="soft">{inner}</{kind}>\n' if inner else ""


def as_html(report: Report) -> str:
    parts = "".join(_part(part) for part in report.parts)
    figures = f"<h2>Figures</h2>\n{_table(report.figures)}\n" if report.figures.rows else ""
    definitions = "".join(
        f"<dt>{escape(known.title[:1].upper() + known.title[1:])}</dt>"
        f"<dd>{escape(known.sentence)} ({escape(known.formula)})</dd>"
        for known in report.definitions
    )
    if report.grants is not None:
        words = ((word[:1].upper() + word[1:], text) for word, text in report.grants.words)
        definitions += "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in words)
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(safe_text(report.title))}</title><style>{STYLE}</style></head><body>\n"
        f"<h1>{escape(safe_text(report.title))}</h1>\n"
        f'<p class="answer">{escape(safe_text(report.sentence))}</p>\n'
        f'<p class="soft">{escape(frozen(report))}</p>\n'
        f"{figures}{_grants(report)}{parts}"
        f"{_below('How sure', 'div', notes)}{_below('What the words mean', 'dl', definitions)}"
        "</body></html>\n"
    )


def _grants(report: Report) -> str:
    known = report.grants
    if known is None:
        return ""
    picture = f"<figure>{known.picture}</figure>\n" if known.picture else ""
    return f"<h2>{escape(known.title)}</h2>\n{_table(known.table)}\n{picture}"


def _part(part: Part) -> str:
    told = (safe_text(f"{note[:1].upper()}{note[1:]}.") for note in part.answer.notes)
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in told)
    picture = f"<figure>{part.picture}</figure>\n" if part.picture else ""
    return f"<h2>{escape(part.title)}</h2>\n{picture}{_table(part.table)}\n{notes}"


def _table(table: Table) -> str:
    head = "".join(f"<th{_numeric(c)}>{escape(c.head)}</th>" for c in table.columns)
    body = "".join(
        "<tr>"
        + "".join(f"<td{_numeric(c)}>{escape(table.label(n, c))}</td>" for c in table.columns)
        + "</tr>\n"
        for n in range(len(table.rows))
    )
    feet = "".join(
        "<tr>"
        + "".join(
            f"<td{_numeric(c)}>{escape(written(f.get(c.name), c) if c.name in f else '')}</td>"
            for c in table.columns
        )
        + "</tr>\n"
        for f in table.feet
    )
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody><tfoot>{feet}</tfoot></table>"
    )


def _numeric(column: Column) -> str:
    return ' class="n"' if column.unit is not None or column.name in ("value", "before") else ""


def as_text(report: Report) -> str:
    """
    What a mail says, and what it can show anywhere.
    """
    return "\n\n".join(_paragraphs(report)) + "\n"


def _paragraphs(report: Report) -> Iterator[str]:
    yield safe_text(report.title)
    yield safe_text(report.sentence)
    if report.figures.rows:
        yield render(report.figures, "table", width=78)
    if report.grants is not None:
        yield f"{report.grants.title}\n{render(report.grants.table, 'table', width=78)}"
    for part in report.parts:
        yield f"{part.title}\n{render(part.table, 'table', width=78)}"
    yield "\n".join([*report.notes, frozen(report)])


def frozen(report: Report) -> str:
    """
    As of when: figures of a file do not follow what is corrected later.
    """
    seen = newest(report)
    last = f", newest sample {_clock(seen, report)}" if seen is not None else ""
    return f"Figures as of {_clock(report.frozen, report)}{last}; leadline {_version()}."


def _clock(moment: datetime, report: Report) -> str:
    return f"{moment.astimezone(report.period.zone):%Y-%m-%d %H:%M %Z}"


def _version() -> str:
    try:
        return version("leadline")
    except PackageNotFoundError:
        return "0"


def as_pdf(report: Report) -> bytes:
    """
    Printed by a browser of this machine, which may not reach the network for it.
    """
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise LeadlineError("PDF needs Chromium on the PATH; without --pdf the report is HTML")
    with tempfile.TemporaryDirectory(prefix="leadline-report-") as name:
        folder = Path(name)
        (folder / "report.html").write_text(as_html(report), encoding="utf-8")
        words = [
            browser, "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={folder / 'report.pdf'}",
            *(["--no-sandbox"] if os.getuid() == 0 else []), (folder / "report.html").as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(words, capture_output=True, timeout=PRINTING, check=False)
        except subprocess.TimeoutExpired:
            raise LeadlineError(f"{browser}: no PDF after {PRINTING:.0f} s") from None
        if not (folder / "report.pdf").exists():
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise LeadlineError(f"{browser}: made no PDF: {' '.join(said)[:300]}")
        return (folder / "report.pdf").read_bytes()
