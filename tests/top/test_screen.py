"""
The screen as a person uses it, at 80×24, over the real pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from leadline.top.client import Api
from leadline.top.look import look
from leadline.top.screen import Told, Top
from tests.top.conftest import TOKEN, Pages

Steps = Callable[[Top, Pilot[None]], Awaitable[None]]


def play(pages: Pages, steps: Steps, size: tuple[int, int] = (80, 24), every: float = 60.0) -> None:
    """
    Keys pressed on a screen of SIZE once the first answer is there.
    """

    async def show() -> None:
        api = Api(pages.address, TOKEN, timeout=3)
        screen = Top(partial(look, api, cluster=None), "leadline", every)
        async with screen.run_test(size=size) as pilot:
            await until(pilot, lambda: screen.found is not None or bool(screen.lost))
            await steps(screen, pilot)

    asyncio.run(show())


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    for _ in range(200):
        await pilot.pause(0.05)
        if true():
            return
    raise AssertionError("it did not come within ten seconds")


def line(screen: Top, name: str) -> str:
    return str(screen.query_one(f"#{name}", Static).render())


def lines(screen: Top) -> list[str]:
    """
    The whole screen as text, as a terminal shows it.
    """
    return ["".join(s.text for s in strip) for strip in screen.screen._compositor.render_strips()]


def test_everything_fits_80_by_24(pages: Pages) -> None:
    """
    The answer first, four lists by their counts, rows with the busiest first, the keys.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        shown = lines(screen)
        assert 24 == len(shown)
        assert {80} == set(map(len, shown))
        assert "820 of 2,560 cores · 1.0 of 2 GPUs · 40 nodes" in shown[0]
        assert all(f"{n} {name}" in shown[1] for n, name in ((1, "Running 40"), (2, "Nodes 41")))
        assert ["User", "Node", "Cores▼", "GPUs", "GiB", "Job", "Program"] == shown[2].split()
        assert ["alice", "c1-40", "40.0", "–", "10.0", "1040", "GROMACS"] == shown[3].split()
        assert "q quit" in shown[23]

    play(pages, steps)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (200, 60)])
def test_any_size_draws(pages: Pages, size: tuple[int, int]) -> None:
    """
    Narrow terminals cut, wide ones give the room to the last column.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        for key in "1234":
            await pilot.press(key)
            assert {size[0]} == set(map(len, lines(screen)))

    play(pages, steps, size)


def test_names_steer_nothing(pages: Pages) -> None:
    """
    Neither the terminal nor the screen's own markup.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        text = "\n".join(lines(screen))
        assert "\x1b" not in text
        assert "[bold]do" in text
        assert "esc\\x1b[" in text

    play(pages, steps)


def test_lists_filter_sort_and_turn_round(pages: Pages) -> None:
    """
    / narrows while it is typed, s goes to the next column, r turns round; each list has its own.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"alice vasp", "enter")
        assert {"alice"} == {row["user"] for row in screen.shown}
        assert "only alice vasp (4)" in line(screen, "tabs")
        await pilot.press("r")
        busy = [row["cores"] for row in screen.shown]
        assert sorted(busy) == busy
        await pilot.press("s", "s")
        assert "GiB▼" in lines(screen)[2]
        await pilot.press("2")
        assert 41 == len(screen.shown)
        assert ["c1-1", "c1-2"] == [row["host"] for row in screen.shown[:2]]
        await pilot.press("1", "escape")
        assert 40 == len(screen.shown)
        await pilot.press("slash", *"nobody", "enter")
        assert "No row holds these words" in line(screen, "foot")

    play(pages, steps)


def test_nodes_gpus_and_a_row_whole(pages: Pages) -> None:
    """
    A silent node says since when, a failing card is red, Enter shows all of a row.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        await pilot.press("tab", "end")
        await until(pilot, lambda: "silent since" in lines(screen)[22])
        assert lines(screen)[22].startswith(" c1-99 ")
        await pilot.press("3")
        assert any("FAILING A100" in text for text in lines(screen))
        await pilot.press("enter")
        assert isinstance(screen.screen, Told)
        assert any("GPU-1" in text for text in lines(screen))
        await pilot.press("q", "question_mark")
        assert any("pause" in text for text in lines(screen))
        await pilot.press("escape", "4")
        assert "4 Findings" in line(screen, "tabs")

    play(pages, steps)


def test_cursor_stays_on_its_row(pages: Pages) -> None:
    """
    Whatever comes in between, what is looked at does not jump.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        await pilot.press("down", "down")
        held = screen.shown[screen.table.cursor_row]
        before = screen.found
        await pilot.press("g")
        await until(pilot, lambda: screen.found is not before)
        assert held["host"] == screen.shown[screen.table.cursor_row]["host"]
        await pilot.press("r")
        assert held["host"] == screen.shown[screen.table.cursor_row]["host"]

    play(pages, steps)


def test_pause_holds_everything(pages: Pages) -> None:
    """
    Nothing moves until it goes on.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        await pilot.press("p")
        assert "paused" in line(screen, "head")
        held = screen.found
        await pilot.press("g")
        await pilot.pause(0.5)
        assert screen.found is held
        await pilot.press("space")
        await until(pilot, lambda: screen.found is not held)

    play(pages, steps)


def test_lost_server_is_said_and_comes_back(pages: Pages) -> None:
    """
    What was known stays on the screen, with the reason below; it goes on by itself.
    """

    async def steps(screen: Top, pilot: Pilot[None]) -> None:
        pages.stop()
        await until(pilot, lambda: bool(screen.lost))
        assert "does not answer" in line(screen, "foot")
        since = line(screen, "foot")[:8]
        assert since == f"{datetime.strptime(since, '%H:%M:%S'):%H:%M:%S}"
        assert 40 == len(screen.shown)
        pages.start()
        await until(pilot, lambda: not screen.lost)
        assert "q quit" in line(screen, "foot")

    play(pages, steps, every=0.2)


def test_wrong_token_says_what_to_do(pages: Pages) -> None:
    """
    Not a traceback over half a screen.
    """

    async def show() -> None:
        screen = Top(partial(look, Api(pages.address, "wrong"), cluster=None), "leadline", 60.0)
        async with screen.run_test(size=(120, 24)) as pilot:
            await until(pilot, lambda: bool(screen.lost))
            assert "--token-file" in line(screen, "foot")

    asyncio.run(show())
