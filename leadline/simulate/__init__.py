"""A fleet that never was: the documents its shippers would have sent, and the truth."""

from leadline.simulate.catalogue import CATALOGUE, Recipe, commands
from leadline.simulate.simulation import Plan, Report, simulate

__all__ = ["CATALOGUE", "Plan", "Recipe", "Report", "commands", "simulate"]
