"""
When the shipper looks, and what ends its wait.
"""

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from shipper.ticks import Bell, Ticks


def test_ticks_are_multiples_of_the_interval() -> None:
    """
    All nodes of a cluster look at the same moment.
    """
    ticks = Ticks(60.0)
    assert ticks.after(120.0) == 180.0
    assert ticks.after(120.1) == 180.0
    assert ticks.after(179.999) == 180.0


@given(
    now=st.floats(1e9, 3e9),
    interval=st.sampled_from([0.1, 1.0, 15.0, 60.0, 900.0]),
    window=st.floats(0, 1),
    host=st.text(max_size=8),
)
def test_next_tick_is_within_one_interval(
    now: float, interval: float, window: float, host: str
) -> None:
    """
    Whatever the time and the host, there is exactly one tick in each interval, and no drift.
    """
    ticks = Ticks.spread(interval, window * interval, host)
    due = ticks.after(now)
    assert now < due <= now + interval * 1.0001 + 1e-6
    assert abs(ticks.after(due) - due - interval) < interval * 0.01


def test_jitter_spreads_hosts_over_the_window() -> None:
    """
    A thousand nodes do not call at once: each tenth of the window gets its share.
    """
    offsets = [Ticks.spread(60.0, 30.0, f"node{n:04d}").offset for n in range(1000)]
    assert offsets == [Ticks.spread(60.0, 30.0, f"node{n:04d}").offset for n in range(1000)]
    tenths = [int(offset / 3) for offset in offsets]
    assert all(60 < tenths.count(tenth) < 140 for tenth in range(10))


def test_clock_set_back_does_not_stop_the_ticks() -> None:
    """
    A tick that would be an hour away after the clock went back is planned anew.
    """
    ticks = Ticks(60.0)
    due = ticks.after(3600.0)
    assert ticks.still_due(due, 3630.0)
    assert not ticks.still_due(due, 30.0)
    assert not ticks.still_due(due, 99999.0)


def test_bell_ends_a_wait() -> None:
    """
    Rung before or during the wait, it ends at once; rung a thousand times, it still ends once.
    """
    bell = Bell()
    bell.wake()
    begun = time.monotonic()
    bell.wait(10)
    threading.Timer(0.05, bell.wake).start()
    bell.wait(10)
    assert time.monotonic() - begun < 5
    for _ in range(100_000):
        bell.wake()
    for _ in range(20):
        bell.wait(0)
    begun = time.monotonic()
    bell.wait(0.02)
    assert time.monotonic() - begun >= 0.02
    bell.close()
