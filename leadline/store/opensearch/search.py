"""
Command-line search: the engine finds whatever may match, the one rule of leadline.store.words
decides and ranks, so that hits are the same on every store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from leadline.store.contract import Found, Hit, counted
from leadline.store.opensearch.aggregations import LIGHT_PAGE, Search
from leadline.store.opensearch.conditions import Query, any_of, query
from leadline.store.opensearch.figures import instant
from leadline.store.plan import Condition
from leadline.store.scope import Scope
from leadline.store.words import Search as Wanted
from leadline.store.words import Term, parse

COMMAND = "process.command_line"
WORDS = f"{COMMAND}.text"
CHUNK = 50_000  # lines named in one question; the engine takes 65,536
MOST_NAMES = 10_000
GAP = "-"  # a word the analyzer drops, but whose place it keeps


def find(
    text: str,
    scope: Scope,
    search: Search,
    *,
    where: Sequence[Condition] = (),
    start: datetime | None = None,
    end: datetime | None = None,
    limit: int = 20,
) -> Found:
    wanted = parse(text)
    matching: Query = {
        "bool": {
            "filter": [
                query("process", scope, where, start, end),
                {"exists": {"field": COMMAND}},
                candidates(wanted),
            ]
        }
    }
    ranked, others = [], []
    for bucket in lines(matching, search):
        line = bucket["key"]["line"]
        matched = wanted.matched(line)
        if matched is None:
            others.append(line)
            continue
        seconds = float(bucket["seconds"]["value"] or 0)
        ranked.append((-matched, -seconds, -float(bucket["last"]["value"]), line))
    ranked.sort()
    best = ranked[:limit]
    described = describe([line for *_, line in best], matching, search)
    hits = tuple(
        hit(line, -minus_matched, -minus_seconds / 3600, described[line])
        for minus_matched, minus_seconds, _, line in best
    )
    of_hits = restrictions([line for *_, line in ranked], others)
    return Found(hits, len(ranked), counted(facets(of_hits, matching, search)))


def candidates(wanted: Wanted) -> Query:
    """
    Every line that can match is among these; some that do not may be too.
    """
    if not wanted.terms:
        return {"match_all": {}}
    return any_of([candidate(term) for term in wanted.terms])


def candidate(term: Term) -> Query:
    if term.prefix:
        *whole, begun = term.words
        must: list[Query] = [{"term": {WORDS: word}} for word in whole]
        must.append({"prefix": {WORDS: {"value": begun}}})
        return {"bool": {"filter": must}}
    at = dict(zip(term.places, term.words, strict=True))
    phrase = " ".join(at.get(place, GAP) for place in range(term.places[-1] + 1))
    return {"match_phrase": {WORDS: {"query": phrase}}}


def lines(matching: Query, search: Search) -> Iterator[Any]:
    """
    Every distinct command line with its core seconds and when it was last seen.
    """
    composite: dict[str, object] = {
        "size": LIGHT_PAGE,
        "sources": [{"line": {"terms": {"field": COMMAND}}}],
    }
    aggregations = {
        "seconds": {"sum": {"field": "core_seconds"}},
        "last": {"max": {"field": "@timestamp"}},
    }
    rows = {"composite": composite, "aggs": aggregations}
    while True:
        body = {"size": 0, "track_total_hits": False, "query": matching, "aggs": {"rows": rows}}
        page = search(body).get("aggregations", {}).get("rows", {})
        yield from page.get("buckets", [])
        if len(page.get("buckets", [])) < LIGHT_PAGE:
            return
        composite["after"] = page["after_key"]


def describe(best: list[str], matching: Query, search: Search) -> dict[str, Any]:
    if not best:
        return {}
    named = {"size": 1000, "order": {"_key": "asc"}}
    aggregations = {
        "first": {"min": {"field": "@timestamp"}},
        "last": {"max": {"field": "@timestamp"}},
        "users": {"terms": {"field": "user.name", **named}},
        "programs": {"terms": {"field": "program.name", **named}},
    }
    only: Query = {"bool": {"filter": [matching, {"terms": {COMMAND: best}}]}}
    by_line = {"terms": {"field": COMMAND, "size": len(best)}, "aggs": aggregations}
    found = search({"size": 0, "query": only, "aggs": {"lines": by_line}})
    return {bucket["key"]: bucket for bucket in found["aggregations"]["lines"]["buckets"]}


def restrictions(found: list[str], others: list[str]) -> list[Query]:
    """
    What leaves the lines FOUND of all that may match: the OTHERS taken out where these are few.
    """
    if not found:
        return []
    if len(others) <= CHUNK:
        return [{"bool": {"must_not": [{"terms": {COMMAND: others}}] if others else []}}]
    return [{"terms": {COMMAND: found[i : i + CHUNK]}} for i in range(0, len(found), CHUNK)]


def facets(of_hits: list[Query], matching: Query, search: Search) -> dict[str, Counter[str]]:
    """
    Samples of all lines found, by user, program and month.
    """
    months = {"field": "local.day", "calendar_interval": "1M", "format": "yyyy-MM"}
    aggregations = {
        "user": {"terms": {"field": "user.name", "size": MOST_NAMES}},
        "program": {"terms": {"field": "program.name", "size": MOST_NAMES}},
        "month": {"date_histogram": {**months, "min_doc_count": 1}},
    }
    counts: dict[str, Counter[str]] = {name: Counter() for name in aggregations}
    for restriction in of_hits:
        body = {
            "size": 0,
            "query": {"bool": {"filter": [matching, restriction]}},
            "aggs": aggregations,
        }
        for name, told in search(body)["aggregations"].items():
            for bucket in told["buckets"]:
                counts[name][bucket.get("key_as_string", bucket["key"])] += bucket["doc_count"]
    return counts


def hit(line: str, matched: int, core_hours: float, bucket: Any) -> Hit:
    return Hit(
        command_line=line,
        matched=matched,
        core_hours=core_hours,
        samples=bucket["doc_count"],
        first_seen=str(instant(bucket["first"]["value"])),
        last_seen=str(instant(bucket["last"]["value"])),
        users=tuple(item["key"] for item in bucket["users"]["buckets"]),
        programs=tuple(item["key"] for item in bucket["programs"]["buckets"]),
    )
