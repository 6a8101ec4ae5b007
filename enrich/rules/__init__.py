"""
Which program stands behind a command line: ordered rules, read from CSV or TSV, and a cache.
"""

from enrich.rules.cache import CachedRules
from enrich.rules.match import Match, Rules, read_rules
from enrich.rules.shape import command_shape

__all__ = ["CachedRules", "Match", "Rules", "command_shape", "read_rules"]
