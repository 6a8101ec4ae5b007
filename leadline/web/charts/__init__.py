"""Charts: one Vega-Lite definition each, drawn on the server as SVG or PNG."""

from leadline.web.charts.render import draw_png, draw_svg, warm_up
from leadline.web.charts.specs import ranking, stacked_area

__all__ = ["draw_png", "draw_svg", "ranking", "stacked_area", "warm_up"]
