"""
Figures on their way out: one table, written for terminals, spreadsheets, scripts and documents.
"""

from leadline.render.table import Column, Table, render
from leadline.render.text import (
    bar,
    duration,
    number,
    paragraphs,
    safe_cell,
    safe_text,
    sparkline,
    within,
)

__all__ = [
    "Column",
    "Table",
    "bar",
    "duration",
    "number",
    "paragraphs",
    "render",
    "safe_cell",
    "safe_text",
    "sparkline",
    "within",
]
