"""
What would have sufficed is worked out once, whoever asks.
"""

from __future__ import annotations

import pytest

from leadline.reports.advice import advise
from leadline.reports.enough import fewest
from leadline.reports.scale import scale
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored
from tests.reports.test_job import record, samples, view


@pytest.mark.parametrize(
    ("busy", "cores"),
    [
        ([0.2] * 10, 1),
        ([8.0] * 10, 8),
        ([8.1] * 10, 8),  # one in a hundred longer
        ([8.5] * 10, 9),
        ([4.0] * 99 + [64.0], 22),  # a spike of one in a hundred: (99 + 64 / 22) / 100 = 1.02
        ([4.0] * 90 + [64.0] * 10, 54),  # (90 + 10 * 64 / 54) / 100 = 1.019
    ],
)
def test_so_few_that_it_hardly_takes_longer(busy: list[float], cores: int) -> None:
    """
    A short spike asks for fewer than its height, a tenth of the time for nearly all of them.
    """
    assert cores == fewest(busy)


def test_advice_and_scaling_name_one_figure() -> None:
    """
    Cores and memory alike: eleven of sixteen at a short peak, on one node.
    """
    documents = [record(), *samples(8.0, 20, ticks=range(11)), *samples(11.0, 30, ticks=[11])]
    seen = view(*documents)
    cores, memory = scale(stored(documents), EVERYTHING, seen).uses
    told = {one.about: one.remedy for one in advise(seen)}
    assert f"{cores.sufficed:.0f} cores would have sufficed" == told["cpu"]
    assert memory.sufficed is not None
    assert f"--mem={memory.sufficed / 2**30:.0f}G leaves room" == told["memory"]
