"""
What naming costs: documents a second on one core from a line of NDJSON to a line of NDJSON, through
the gate and the whole chain with all shipped rules, at three shares of commands seen before.

The peer is what people write first: json in, a cache, a loop over 400 compiled patterns, json out.
"""

import random
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import orjson

from bench.report import Report, arguments
from enrich.chain import Chain, build_chain
from enrich.rules import Rules, read_rules
from enrich.step import Context
from enrich.steps import program, tags
from leadline.formats.validate import read_line
from leadline.simulate.catalogue import commands

TARGETS = {99: ">= 80000", 90: ">= 50000", 50: None}
PATTERNS = 400
KNOWN = 500  # distinct commands a cluster runs again and again
BATCH = 2000


def documents(count: int, share: int, seed: int) -> list[bytes]:
    """
    COUNT lines of process samples; SHARE per cent of their commands were seen before.
    """
    dice = random.Random(seed)
    known = commands(seed=1, count=KNOWN)
    fresh = commands(seed=seed + 2, count=count * (100 - share) // 100 + 1)
    lines = []
    for number in range(count):
        if number < len(known) or dice.random() * 100 < share:
            name, executable, command, _ = known[number % len(known)]
        else:
            name, executable, command, _ = fresh[number % len(fresh)]
            command = f"{command} --tag {seed}-{number}"
        lines.append(orjson.dumps(document(number, name, executable, command)))
    return lines


def document(number: int, name: str, executable: str, command: str) -> dict[str, object]:
    return {
        "@timestamp": "2026-03-02T10:14:30.000Z",
        "sample.time": "2026-03-02T10:15:00.000Z",
        "dataset": "process",
        "cluster": "fox",
        "host.name": f"c1-{number % 40}",
        "boot.id": "5f0c5a9e",
        "interval.seconds": 60.0,
        "process.entity_id": f"{number % 32768}-{number * 100}",
        "process.pid": number % 32768,
        "process.name": name,
        "process.executable": executable,
        "process.command_line": command,
        "user.name": f"user{number % 200}",
        "core_seconds": 59.25,
        "memory.rss.bytes": 4096 * number,
        "job.local_id": str(1_000_000 + number // 50),
    }


def chain_pass(chain: Chain, lines: list[bytes]) -> None:
    one, dumps = chain.one, orjson.dumps
    for line in lines:
        dumps(one(read_line(line)))


def names_only(rules: Rules) -> Callable[[list[bytes]], None]:
    """
    The peer's own work done our way: json in, program and tags, json out; no gate, no ids.
    """
    context = Context(rules=rules)
    one = Chain([program.build(context), tags.build(context)]).one

    def run(lines: list[bytes]) -> None:
        for line in lines:
            orjson.dumps(one(orjson.loads(line)))

    return run


def naive_loop(rules: Rules) -> Callable[[list[bytes]], None]:
    """
    400 of the rules, each compiled, asked one after the other when the cache does not know.
    """
    all_rules = [rule for layer in rules.layers for rule in layer if "name" in rule.applies_to]
    chosen = all_rules[:: len(all_rules) // PATTERNS][:PATTERNS]
    compiled = [(re.compile(rf"\b{rule.inner}\b"), rule.program) for rule in chosen]
    seen: dict[str, str | None] = {}

    def run(lines: list[bytes]) -> None:
        for line in lines:
            raw = orjson.loads(line)
            command = raw["process.command_line"]
            if command not in seen:
                found = (program for pattern, program in compiled if pattern.search(command))
                seen[command] = next(found, None)
            raw["program.name"] = seen[command]
            orjson.dumps(raw)

    return run


def per_second(run: Callable[[list[bytes]], None], share: int, count: int, rounds: int) -> float:
    """
    The best of ROUNDS, each over lines whose share of new commands is the same, cache warm: what
    the code costs, not what else the machine was busy with.
    """
    run(documents(KNOWN * 2, 100, seed=1))
    speeds = []
    for turn in range(rounds):
        lines = documents(count, share, seed=10 + turn)
        begun = time.process_time()
        run(lines)
        speeds.append(len(lines) / (time.process_time() - begun))
    return max(speeds)


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("enrich: parse, name, encode on one core")
    begun = time.perf_counter()
    rules = read_rules()
    report.add("rules", len(rules), "")
    report.add("rules_read", time.perf_counter() - begun, "s")
    count, rounds = (10_000, 9) if args.quick else (50_000, 15)
    for share, target in TARGETS.items():
        chain = build_chain(Context(rules=rules))
        speed = per_second(partial(chain_pass, chain), share, count, rounds)
        report.add(f"docs_per_second_{share}", speed, "1/s", target)
        named = per_second(names_only(rules), share, count, 5)
        report.add(f"named_docs_per_second_{share}", named, "1/s")
        naive = naive_loop(rules)
        slow = count // 5 if share == 50 else count
        report.add(f"naive_docs_per_second_{share}", per_second(naive, share, slow, 3), "1/s")
    report.finish(args)


if __name__ == "__main__":
    main()
