"""Charts: one Vega-Lite definition each, drawn as SVG or PNG, or handed out as it is."""

from leadline.render.charts.interactive import draw_vega
from leadline.render.charts.render import draw_file, draw_png, draw_svg, warm_up
from leadline.render.charts.shapes import columns, heat, lines, ruled
from leadline.render.charts.specs import ranking, stacked_area
from leadline.render.charts.spreads import boxes, dots, histogram, pie, scatter

__all__ = [
    "boxes",
    "columns",
    "dots",
    "draw_file",
    "draw_png",
    "draw_svg",
    "draw_vega",
    "heat",
    "histogram",
    "lines",
    "pie",
    "ranking",
    "ruled",
    "scatter",
    "stacked_area",
    "warm_up",
]
