"""
What every benchmark shares: its two options, its table and its JSON, so that figures read alike.

A benchmark opens like this; else `python bench/shipper.py` would find itself when it imports the
room `shipper`:

    if __name__ == "__main__":
        sys.path[0] = str(Path(__file__).parents[1])

    from bench.report import Report, arguments
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    unit: str
    target: str | None = None  # as a person reads it: "<= 0.40", ">= 50000"; None: no promise


class Report:
    """
    The figures of one benchmark, in the order they were measured.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.figures: list[Figure] = []

    def add(self, name: str, value: float, unit: str, target: str | None = None) -> None:
        if target is not None:
            parse_target(target)  # a target nobody can read is a mistake of the benchmark
        self.figures.append(Figure(name, value, unit, target))
        print(f"  {name} = {readable(value)} {unit}", file=sys.stderr, flush=True)

    def table(self) -> str:
        rows = [("figure", "value", "unit", "target", "")]
        rows += [
            (f.name, readable(f.value), f.unit, f.target or "", verdict(f)) for f in self.figures
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [self.title]
        for name, value, unit, target, word in rows:
            cells = (
                name.ljust(widths[0]),
                value.rjust(widths[1]),
                unit.ljust(widths[2]),
                target.ljust(widths[3]),
                word,
            )
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def finish(self, args: argparse.Namespace) -> None:
        """
        Print the table and write the JSON where `--json` said; a missed target is no error.
        """
        print(self.table())
        if args.json is not None:
            args.json.write_text(json.dumps([asdict(f) for f in self.figures], indent=1) + "\n")


def arguments(description: str, *own: tuple[str, str]) -> argparse.Namespace:
    """
    The two options every benchmark takes: `quick` (bool) and `json` (Path or None); and its OWN,
    each an option that takes a text, and what it is for.
    """
    parser = argparse.ArgumentParser(description=description)
    for option, meaning in own:
        parser.add_argument(option, help=meaning)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, done in under 50 s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser.parse_args()


def parse_target(target: str) -> tuple[str, float]:
    sign, _, number = target.partition(" ")
    if sign not in ("<=", ">="):
        raise ValueError(f"target {target!r}: write it as '<= 0.40' or '>= 50000'")
    return sign, float(number)


def met(figure: Figure) -> bool | None:
    """
    Whether the figure keeps its promise; None when it made none.
    """
    if figure.target is None:
        return None
    sign, number = parse_target(figure.target)
    return figure.value <= number if sign == "<=" else figure.value >= number


def verdict(figure: Figure) -> str:
    return {None: "", True: "met", False: "MISSED"}[met(figure)]


def readable(value: float) -> str:
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
