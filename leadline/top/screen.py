"""
The screen itself: a line that says it all, four lists, keys as people know them from top.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import DataTable, Input, Static

from leadline.errors import LeadlineError
from leadline.render.text import fit, safe_text
from leadline.top.look import Look
from leadline.top.views import VIEWS, Row

KEYS = (
    ("1 2 3 4, Tab", "running, nodes, GPUs, findings"),
    ("↑ ↓ PgUp PgDn", "move; Enter shows all of a row"),
    ("/", "filter: words that must be there, -word must not; Esc ends it"),
    ("s S", "sort by the next, the previous column"),
    ("r", "turn the order round"),
    ("p, Space", "pause, go on"),
    ("+ -", "look less often, more often"),
    ("g", "look now"),
    ("q, Ctrl+C", "end"),
)
FOOT = "1-4 lists  / filter  s sort  r reverse  p pause  Enter row  ? keys  q quit"
FASTEST, SLOWEST = 1.0, 300.0


class Told(ModalScreen[None]):
    """
    Some lines over the screen, gone with the next key.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, "dismiss", show=False) for key in ("escape", "enter", "q", "question_mark")
    ]
    CSS = """
    Told { align: center middle; }
    Told VerticalScroll { width: 74; max-width: 95%; height: auto; max-height: 80%;
      border: round $accent; padding: 0 1; background: $surface; }
    """

    def __init__(self, title: str, lines: list[tuple[str, str]]) -> None:
        super().__init__()
        self.heading, self.lines = title, lines

    def compose(self) -> ComposeResult:
        text = Text(f"{safe_text(self.heading)}\n", style="bold")
        for name, value in self.lines:
            text.append(f"\n{safe_text(name):<16}", style="dim")
            text.append(safe_text(value), style="not bold")
        with VerticalScroll():
            yield Static(text)


class Rows(DataTable[Text]):
    """
    Home and End go to the first and the last row; nothing is wider than the screen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
    ]


class Top(App[None]):
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #head, #tabs, #foot { height: 1; width: 100%; }
    #tabs { color: $text-muted; }
    #foot { color: $text-muted; }
    #foot.lost { color: $text; background: $error; }
    Rows { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    Input { height: 1; border: none; padding: 0; display: none; }
    Input.asked { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n + 1), f"view({n})", show=False) for n in range(len(VIEWS))),
        Binding("tab", "next_view(1)", show=False, priority=True),
        Binding("shift+tab", "next_view(-1)", show=False, priority=True),
        Binding("slash", "filter", show=False),
        Binding("escape", "end_filter", show=False),
        Binding("s", "sort(1)", show=False),
        Binding("S,upper_s", "sort(-1)", show=False),
        Binding("r", "reverse", show=False),
        Binding("p,space", "pause", show=False),
        Binding("plus", "pace(2.0)", show=False),
        Binding("minus", "pace(0.5)", show=False),
        Binding("g", "now", show=False),
        Binding("question_mark,h", "help", show=False),
        Binding("q,ctrl+c", "quit", show=False, priority=False),
    ]

    def __init__(self, ask: Callable[[Look | None], Look], name: str, every: float = 5.0) -> None:
        super().__init__()
        self.ask, self.site, self.every = ask, name, every
        self.found: Look | None = None
        self.lost = ""  # since when there is no answer, and why
        self.paused = False
        self.place = 0
        self.wanted = [""] * len(VIEWS)
        self.order = [(view.first, False) for view in VIEWS]
        self.shown: list[Row] = []
        self._wake = threading.Event()
        self._ended = threading.Event()

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Static(id="tabs")
        yield Rows(cursor_type="row", zebra_stripes=False)
        yield Input(placeholder="words that must be in a row, -word must not", compact=True)
        yield Static(id="foot")

    def on_mount(self) -> None:
        self.table.focus()
        threading.Thread(target=self._follow, daemon=True).start()
        self.set_interval(1.0, self.say)
        self.draw()

    def on_unmount(self) -> None:
        self._ended.set()
        self._wake.set()

    @property
    def table(self) -> Rows:
        return self.query_one(Rows)

    # ── looking ──

    def _follow(self) -> None:
        """
        Beside the screen, so that a server that hangs holds up nobody's keys.
        """
        while not self._ended.is_set():
            if not self.paused:
                seen, lost = self.found, ""
                try:
                    seen = self.ask(self.found)
                except (LeadlineError, KeyError, TypeError) as error:
                    lost = str(error) or type(error).__name__
                try:
                    self.call_from_thread(self.take, seen, lost)
                except RuntimeError:  # the screen has just ended
                    return
            self._wake.wait(self.every)
            self._wake.clear()

    def take(self, seen: Look | None, lost: str) -> None:
        if self.paused:
            return  # asked before the pause, answered in it
        since = self.lost[:8] if self.lost else f"{datetime.now():%H:%M:%S}"
        self.lost = f"{since} {lost}" if lost else ""
        fresh, self.found = seen is not self.found, seen
        if fresh:
            self.draw()
        self.say()

    # ── drawing ──

    def draw(self) -> None:
        """
        The list again, the cursor on the row it was on.
        """
        view, table = VIEWS[self.place], self.table
        widths = view.widths(self.size.width - 1)  # a column for the scroll bar
        column, reverse = self.order[self.place]
        kept, scroll = self._key(table.cursor_row), table.scroll_offset
        rows = self.found.lists[self.place] if self.found is not None else ()
        self.shown = view.ordered(view.chosen(rows, self.wanted[self.place]), column, reverse)
        table.clear(columns=True)
        for number, (one, width) in enumerate(zip(view.columns, widths, strict=True)):
            mark = ("▼" if one.falling != reverse else "▲") if number == column else ""
            head = fit(f"{one.title}{mark}", width)
            table.add_column(Text(head, justify="right" if one.right else "left"), width=width)
        for row in self.shown:
            style = "bold red" if view.alarm(row) else ""
            cells = zip(view.cells(row, widths), view.columns, strict=True)
            table.add_row(
                *(Text(text, style, justify="right" if c.right else "left") for text, c in cells)
            )
        keys = [_identity(row) for row in self.shown]
        if kept in keys:
            table.move_cursor(row=keys.index(kept), animate=False, scroll=False)
            table.scroll_to(y=scroll.y, animate=False)
        self.say()

    def _key(self, place: int) -> object:
        return _identity(self.shown[place]) if 0 <= place < len(self.shown) else None

    def say(self) -> None:
        width = max(20, self.size.width)
        state = "paused" if self.paused else f"every {self.every:g} s"
        clock = f"{self.found.moment.astimezone():%H:%M:%S}" if self.found else "asking"
        right = f"{clock} {state}"
        room = width - len(right) - 2
        said = self.found.sentence(room - len(self.site) - 2) if self.found else ""
        head = fit(f"{self.site}  {said}", room)
        self.query_one("#head", Static).update(
            Text(f"{head:<{room}}  {right}", "bold", no_wrap=True)
        )
        self.query_one("#tabs", Static).update(self._tabs(width))
        foot = self.query_one("#foot", Static)
        trouble = self.lost or (self.found.trouble if self.found is not None else "")
        foot.set_class(bool(trouble), "lost")
        foot.update(Text(fit(safe_text(trouble) or self._why_empty() or FOOT, width)))

    def _tabs(self, width: int) -> Text:
        text = Text(no_wrap=True)
        for number, view in enumerate(VIEWS):
            count = f" {len(self.found.lists[number])}" if self.found else ""
            style = "bold reverse" if number == self.place else ""
            text.append(f" {number + 1} {view.name}{count} ", style)
            text.append(" ")
        if self.wanted[self.place]:
            text.append(f" only {self.wanted[self.place]} ({len(self.shown)})", "italic")
        text.truncate(width)
        return text

    def _why_empty(self) -> str:
        if self.found is None or self.shown:
            return ""
        if self.wanted[self.place]:
            return "No row holds these words; Esc shows all again."
        if not self.found.nodes:
            return "No samples within the last day; `leadline status` says why."
        empty = ("No process of anybody was seen", "No node", "No GPU", "Nothing was found")
        return f"{empty[self.place]}.  {FOOT}"

    # ── keys ──

    def action_view(self, place: int) -> None:
        self.place = place
        self.query_one(Input).value = self.wanted[place]
        self.draw()
        self.table.move_cursor(row=0, animate=False)

    def action_next_view(self, step: int) -> None:
        self.action_view((self.place + step) % len(VIEWS))

    def action_sort(self, step: int) -> None:
        column, _ = self.order[self.place]
        self.order[self.place] = ((column + step) % len(VIEWS[self.place].columns), False)
        self.draw()

    def action_reverse(self) -> None:
        column, reverse = self.order[self.place]
        self.order[self.place] = (column, not reverse)
        self.draw()

    def action_pause(self) -> None:
        self.paused = not self.paused
        self._wake.set()
        self.say()

    def action_pace(self, factor: float) -> None:
        self.every = min(SLOWEST, max(FASTEST, self.every * factor))
        self._wake.set()
        self.say()

    def action_now(self) -> None:
        self._wake.set()

    def action_filter(self) -> None:
        asked = self.query_one(Input)
        asked.add_class("asked")
        asked.focus()

    def action_end_filter(self) -> None:
        self.query_one(Input).value = ""
        self._leave_filter()

    def _leave_filter(self) -> None:
        self.query_one(Input).remove_class("asked")
        self.table.focus()

    def action_help(self) -> None:
        self.push_screen(Told("Keys", list(KEYS)))

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self.wanted[self.place]:
            self.wanted[self.place] = event.value
            self.draw()

    def on_input_submitted(self) -> None:
        self._leave_filter()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if 0 <= event.cursor_row < len(self.shown):
            row = self.shown[event.cursor_row]
            lines = [(name, str(value)) for name, value in row.items() if value not in (None, "")]
            self.push_screen(Told(VIEWS[self.place].name, lines))

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        column, reverse = self.order[self.place]
        same = column == event.column_index
        self.order[self.place] = (event.column_index, not reverse if same else False)
        self.draw()

    def on_resize(self, event: Resize) -> None:
        self.draw()


def _identity(row: Row) -> object:
    names = ("cluster", "host", "user", "program", "job", "uuid", "kind", "object")
    return tuple(row.get(name) for name in names)
