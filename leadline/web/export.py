"""
Answers and pictures as files: the same JSON and CSV the command line prints, and drawings.
"""

from __future__ import annotations

from collections.abc import Callable

from werkzeug.wrappers import Response

from leadline.render import Table, render
from leadline.render.charts import draw_file, draw_png, draw_vega
from leadline.reports.picture import Spec
from leadline.web.api.answers import as_csv, as_json, as_vega_lite, sent

FORMS = ("csv", "json", "svg", "png", "vega")
NAMES = {"vega": "Vega-Lite"}


def as_file(form: str, name: str, table: Table, spec: Callable[[], Spec]) -> Response:
    """
    What a picture called NAME shows as a file of the given FORM: its TABLE, or its drawing.
    """
    file = name.replace("/", "-")
    if form == "csv":
        return as_csv(render(table, "csv") + "\n", f"{file}.csv")
    if form == "json":
        return as_json({"rows": list(table.rows)})
    titled = {**spec(), "title": name}
    if form == "svg":
        return sent(draw_file(titled), "image/svg+xml; charset=utf-8")
    if form == "png":
        return sent(draw_png(titled), "image/png")
    return as_vega_lite(draw_vega(titled), f"{file}.vl.json")


def links(to: Callable[[str], str]) -> list[tuple[str, str]]:
    """
    One for each form; TO gives its address.
    """
    return [(NAMES.get(form, form.upper()), to(form)) for form in FORMS]
