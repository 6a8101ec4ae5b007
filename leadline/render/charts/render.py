"""
From a Vega-Lite definition to a picture, on the server, from a small cache.

Ink and paper are given as two colours that nothing else uses: inside a page they become the
reader's own, so that the same drawing serves light, dark and print.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from threading import Lock

import orjson

from leadline.errors import LeadlineError
from leadline.language import current
from leadline.language.figures import for_charts
from leadline.render.charts.series import series

VEGA_LITE = "6.1"  # reads what was written for 5 as 5 does
INK, PAPER, GRID = "#16181d", "#fefefd", "#d5d8dc"
HATCH = "#fdfcfb"  # not measured: becomes a pattern
PATTERN = (
    '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse">'
    f'<path d="M0 5L5 0" stroke="{INK}" stroke-opacity="0.35"/></pattern></defs>'
)

CONFIG: dict[str, object] = {
    "background": PAPER,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": GRID,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
    },
    "text": {"color": INK, "fontSize": 11},
    "header": {"labelColor": INK, "titleColor": INK},
    "legend": {"labelColor": INK, "titleColor": INK},
    "title": {"color": INK, "fontSize": 12, "anchor": "start"},
}

# Groups that call themselves a symbol and have no name: nothing a reader could be told.
UNNAMED = re.compile(r'(<g class="[^"]*") role="graphics-\w+" aria-roledescription="[^"]*"(?=>)')

UNKNOWN = "\ufffd".encode()
_UNDRAWN = re.compile(
    rb"(?P<kept>\\\\|\\\")|\\u00[01][0-9a-f]|\\[bfnrt]|\x7f|[\xf0-\xf4][\x80-\xbf]{3}"
    rb"|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]"
)

# Where things are, to a hundredth of a pixel: the engine writes a millionth of a millionth.
_PLACED = re.compile(r' (?:d|transform|x[12]?|y[12]?|width|height)="[^"]*"')
_OWN = re.compile(
    r'(?<= id="|url\(#)(?=clip|gradient)'
)  # another drawing in the page has such, too
_TOO_FINE = re.compile(r"(\.\d\d)\d+")

# The renderer is one V8 isolate: two threads in it at once only wait for each other.
_RENDERER = Lock()


def written(spec: Mapping[str, object], **config: object) -> bytes:
    """
    SPEC as the engine reads it, with CONFIG beside ours. It ends the whole process over a NUL in
    a name and cannot cut one within a pair of surrogates: control characters, what turns a line
    around, what lies beyond the first plane are drawn as the character that says so.
    """
    text = orjson.dumps({**spec, "config": {**CONFIG, **config}}, option=orjson.OPT_SORT_KEYS)
    return _UNDRAWN.sub(lambda found: found[0] if found["kept"] else UNKNOWN, text)


def draw_svg(spec: dict[str, object], title: str) -> str:
    """
    SPEC as SVG to be set into a page: the reader's ink, as wide as there is room, named TITLE, with
    its values over time beside it for scripts.
    """
    return _inline(_svg(written(spec), current()), title, series(spec))


def draw_file(spec: dict[str, object]) -> str:
    """
    SPEC as an SVG file of its own.
    """
    return _svg(written(spec), current())


def draw_png(spec: dict[str, object]) -> bytes:
    import vl_convert

    svg = draw_file(spec)
    with _RENDERER:
        return bytes(vl_convert.svg_to_png(svg, scale=2.0))


@lru_cache(maxsize=256)
def _svg(key: bytes, language: str) -> str:
    try:
        import vl_convert
    except ImportError:
        raise LeadlineError("charts need vl-convert: pip install 'leadline[server]'") from None
    figures, times = for_charts(language) or (None, None)
    with _RENDERER:
        return _hatched(
            vl_convert.vegalite_to_svg(
                key.decode(),
                vl_version=VEGA_LITE,
                format_locale=figures,
                time_format_locale=times,
            )
        )


def _hatched(svg: str) -> str:
    if f'fill="{HATCH}"' not in svg:
        return svg
    head, mark, body = svg.partition(">")
    return f"{head}{mark}{PATTERN}{body}".replace(f'fill="{HATCH}"', 'fill="url(#hatch)"')


def _inline(svg: str, title: str, values: str) -> str:
    head, _, body = svg.partition(">")
    size = re.search(r'viewBox="[^"]+"', head)
    body = _PLACED.sub(lambda found: _TOO_FINE.sub(r"\1", found[0]), body)
    body = _OWN.sub("plain_", body)
    body = body.replace(f'fill="{INK}"', 'fill="currentColor"')
    body = body.replace(f'stroke="{INK}"', 'stroke="currentColor"')
    body = body.replace(f'stroke="{GRID}"', 'stroke="currentColor" stroke-opacity="0.15"')
    body = re.sub(rf'<rect [^>]*fill="{PAPER}"[^>]*/>', "", body, count=1)
    body = body.replace(' font-family="sans-serif"', "")
    body = UNNAMED.sub(r"\1", body)
    view = size[0] if size else ""
    quoted = escape(values, quote=False).replace("'", "&#39;")  # JSON is full of the other quotes
    data = f" data-series='{quoted}'" if values else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" {view} role="img"'
        f' aria-label="{escape(title)}"{data}>{body}'
    )


def warm_up() -> None:
    """
    The first drawing starts the engine, which takes half a second: better before anybody waits.
    """
    _svg(orjson.dumps({"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {}}), current())
