"""
Whether a job will scale, as it is printed on a terminal.
"""

from __future__ import annotations

from leadline.render import bar, duration, number, paragraphs
from leadline.reports.scale import Scale
from leadline.reports.scale_limits import Use


def scale_summary(found: Scale, width: int = 100) -> str:
    sure = {"sure": "This is sure.", "likely": "This is likely.", "a guess": "This is a guess."}
    lines = [f"{found.job}  will it scale?", "", found.sentence]
    if found.sure:
        lines[-1] += f" {sure[found.sure]}"
    lines += [f"  • {text[:1].upper()}{text[1:]}." for text in found.evidence]
    if found.speedup is not None and found.limit not in ("serial parts", "one core"):
        lines.append(f"  • Its serial parts allow {found.speedup:.1f} times the speed at most.")
    if found.would_help:
        lines.append(f"What would help: {'; '.join(found.would_help)}.")
    if found.uses:
        head = f"{'':8}{'nodes have':>12}{'had':>10}{'mean':>8}{'peak':>8}{'all in use':>12}"
        lines += ["", f"{head}{'sufficed':>10}"]
        lines += [_use(use) for use in found.uses]
    if found.sizes:
        lines += ["", f"Runs of this name:      {'cores':>8}{'runs':>8}{'mean time':>12}{'CPU':>8}"]
        lines += [
            f"{'':24}{size.cores:>8,}{size.runs:>8,}"
            f"{'–' if size.wall is None else duration(size.wall):>12}{_percent(size.efficiency):>8}"
            for size in found.sizes
        ]
    if found.missing:
        lines += ["", f"Not measured, so nothing is said of it: {', '.join(found.missing)}."]
    return paragraphs(lines, width)


def _use(use: Use) -> str:
    def cell(value: float | None) -> str:
        return number(value, use.unit)

    title = f"{use.name} GiB" if use.unit == "bytes" else use.name
    shares = f"{_percent(use.full):>12}"
    drawn = f"  {bar(use.share, 10)}" if use.share is not None else ""
    return (
        f"  {title:10}{cell(use.fitted):>8}{cell(use.had):>10}{cell(use.mean):>8}"
        f"{cell(use.peak):>8}{shares}{cell(use.sufficed):>10}{drawn}"
    ).rstrip()


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
