"""
`leadline simulate`: documents of a fleet that never was, and the truth they were made from.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from leadline.formats.counted import counted

UNITS = {"s": 1, "m": 60, "h": 3600}


class Span(click.ParamType):  # type: ignore[type-arg]
    """
    Seconds, written 90s, 15m or 1h.
    """

    name = "span"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = re.fullmatch(r"(\d{1,7})([smh])", str(value))
        if not found:
            self.fail(f"{value!r} is no span of time; write 60s, 15m or 1h", param, ctx)
        return int(found[1]) * UNITS[found[2]]


class Moment(click.ParamType):  # type: ignore[type-arg]
    """
    Seconds since the epoch, written `now` or as ISO 8601 with zone.
    """

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if value == "now":
            return int(time.time())
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time; write now or 2026-11-01T00:00:00Z", param, ctx)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--nodes", type=int, default=40, show_default=True)
@click.option("--days", type=int, default=30, show_default=True)
@click.option("--every", type=Span(), default="15m", show_default=True, help="Between samples.")
@click.option("--end", type=Moment(), default="now", show_default=True, help="The last sample.")
@click.option("--cluster", "--cluster-name", metavar="NAME", default="fox", show_default=True)
@click.option("--gzip/--plain", "compress", default=True, help="Pack the files, or not.")
def simulate(
    out: Path, seed: int, nodes: int, days: int, every: int, end: int, cluster: str, compress: bool
) -> None:
    """
    Write what the shippers of a fleet would have sent, and truth.json beside it.

    \b
    Example:
        leadline simulate --out /tmp/fleet --seed 7 --nodes 40 --days 30
        leadline --store lake:/tmp/lake enrich /tmp/fleet/*.ndjson.gz
    """
    from leadline.simulate import Plan
    from leadline.simulate import simulate as run

    began = time.perf_counter()
    # Ticks are aligned to the clock, as a shipper's are.
    plan = Plan(seed, nodes, days, every, end - end % every if every else end, cluster, compress)
    report = run(plan, out)
    seconds = time.perf_counter() - began
    click.echo(
        f"{counted(report.documents, 'document')} in {counted(len(report.files), 'file')}"
        f" in {out}, {seconds:.1f} s ({report.documents / seconds:,.0f}/s)"
    )
    for measure, error in report.errors.items():
        click.echo(
            f"{measure}: {report.sampled[measure]:,.1f} of {report.real[measure]:,.1f} can be seen "
            f"by samples every {every} s; expected sampling error {error:.2%}"
        )
    click.echo(f"truth: {out / 'truth.json'}")
