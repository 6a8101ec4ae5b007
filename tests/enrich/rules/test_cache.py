"""The cache around the rules."""

from enrich.rules import CachedRules, Rules
from tests.enrich.rules.conftest import Ruled


def test_cached_command_is_not_matched_again(shipped: Rules) -> None:
    """
    A command seen before is a look-up: the very same answer, and counted as a hit.
    """
    cached = CachedRules(shipped)

    first = cached.match("gmx", None, "gmx mdrun -v")
    again = cached.match("gmx", None, "gmx mdrun -v")

    assert first is again
    assert (1, 1, 2) == (cached.hits, cached.misses, cached.calls)


def test_cache_answers_as_the_rules_do(shipped: Rules, examples: list[list[str]]) -> None:
    """
    However small the cache, the answers are those of the rules.
    """
    cached = CachedRules(shipped, entries=7)

    for name, executable, command, program in examples[:200] * 2:
        assert program == cached.match(name or None, executable or None, command or None).program


def test_memory_of_the_cache_is_bounded(ruled: Ruled) -> None:
    """
    Neither many commands nor long ones grow it beyond its bounds.
    """
    many, long = (
        CachedRules(ruled("a,A"), entries=100),
        CachedRules(ruled("a,A"), characters=10_000),
    )

    for number in range(1000):
        many.match("a", None, f"a {number}")
        long.match("a", None, f"a {number}" + "x" * 1000)

    assert len(many) <= 100
    assert len(long) <= 14
