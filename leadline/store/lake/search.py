"""
Search terms as regular expressions over distinct command lines, by the rules of store.words.

DuckDB matches with RE2, in linear time, and only distinct lines: milliseconds for a million
samples.
"""

from __future__ import annotations

import re

from leadline.store.lake.sql import ISO, Query
from leadline.store.words import SEPARATORS, STRIPPED, Search, Term

_CLASS = "".join("\\" + sign for sign in SEPARATORS) + r"\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}"
CUT = f"[{_CLASS}]"
WORD = f"[^{_CLASS}]"
JOINT = f"[^{_CLASS}\\p{{L}}\\p{{N}}]"  # stands between the parts of one word
LEADING = f"[{re.escape(STRIPPED)}]*"
ALNUM = re.compile(r"[^\W_]+")

FACETS = {
    "user": '"user.name"',
    "program": '"program.name"',
    "month": "strftime(\"local.day\", '%Y-%m')",
}


def pattern(term: Term) -> str:
    """
    An RE2 pattern that finds TERM in a line in lower case, where words.index would.
    """
    pieces = []
    for number, (word, place) in enumerate(zip(term.words, term.places, strict=True)):
        last = number == len(term.words) - 1
        if number:
            dropped = place - term.places[number - 1] - 1
            pieces.append(f"{CUT}+(?:[{re.escape(STRIPPED)}]+{CUT}+){{{dropped}}}")
        pieces.append(_word(word, prefix=last and term.prefix))
    return f"(?:^|{CUT}){''.join(pieces)}" + ("" if term.prefix else f"(?:$|{CUT})")


def _word(word: str, *, prefix: bool) -> str:
    escaped = _escape(word)
    if prefix:
        whole = f"{LEADING}{escaped}"
        return f"(?:{whole}|{WORD}*{JOINT}{escaped})" if ALNUM.fullmatch(word) else whole
    if not ALNUM.fullmatch(word):
        return f"{LEADING}{escaped}"
    return f"(?:{WORD}*{JOINT})?{escaped}(?:{JOINT}{WORD}*)?"


def _escape(text: str) -> str:
    return "".join(
        sign if sign.isalnum() or sign == "_" else f"\\x{{{ord(sign):x}}}" for sign in text
    )


def compile_search(query: Query, search: Search, source: str, where: str, limit: int) -> str:
    """
    One SELECT: hits in order; in each row the number of all of them, and the samples of all
    matching lines by what FACETS name. Samples are read once and folded, by day since a month is
    dear to work out ten million times; lines are judged, and only the best of them described.
    """
    likely, matched, kept = _tests(query, search)
    facets = ", ".join(
        f"(SELECT map_from_entries(list((value, n))) FROM (SELECT {facet} AS value,"
        f" sum(samples)::BIGINT AS n FROM found WHERE value IS NOT NULL GROUP BY ALL))"
        for facet in FACETS.values()
    )
    line = '"process.command_line"'
    order = f"matched DESC, hours DESC, last DESC, {line}"
    return (
        f'WITH folded AS MATERIALIZED (SELECT {line}, "user.name", "program.name", "local.day",'
        f' sum(core_seconds) AS seconds, count(*) AS samples, min("@timestamp") AS first,'
        f' max("@timestamp") AS last FROM {source}'
        f" WHERE {line} IS NOT NULL AND {likely} AND {where} GROUP BY ALL),"
        f" lines AS (SELECT {line}, coalesce(sum(seconds), 0) / 3600 AS hours,"
        f" sum(samples)::BIGINT AS samples, min(first) AS first, max(last) AS last"
        f" FROM folded GROUP BY ALL),"
        f" judged AS MATERIALIZED (SELECT *, {matched} AS matched FROM lines WHERE {kept}),"
        f" found AS MATERIALIZED (SELECT * FROM folded SEMI JOIN judged USING ({line})),"
        f" best AS MATERIALIZED (SELECT * FROM judged ORDER BY {order} LIMIT {limit:d}),"
        f" named AS (SELECT {line}, {_names('user.name')} AS users,"
        f" {_names('program.name')} AS programs FROM found SEMI JOIN best USING ({line})"
        f" GROUP BY ALL)"
        f" SELECT {line}, matched, hours, samples, strftime(first, '{ISO}'),"
        f" strftime(last, '{ISO}'), list_sort(users), list_sort(programs),"
        f" (SELECT count(*) FROM judged), {facets} FROM best JOIN named USING ({line})"
        f" ORDER BY {order}"
    )


def _tests(query: Query, search: Search) -> tuple[str, str, str]:
    """
    Which samples are worth reading, how many terms a line holds, which lines match.
    """
    line = 'lower("process.command_line")'
    likely = _likely(query, search, line)
    terms = [f"{_found(query, line, term)}::INTEGER" for term in search.terms]
    excluded = [f"NOT {_found(query, line, term)}" for term in search.excluded]
    kept = " AND ".join([*excluded, *(["matched > 0"] if terms else [])]) or "true"
    return likely, " + ".join(terms) or "0", kept


def _likely(query: Query, search: Search, line: str) -> str:
    """
    Lines that cannot match are left out as they are read, once for each entry of a file's
    dictionary and not for each sample.
    """
    words = {max(term.words, key=len) for term in search.terms}
    return (
        f"({' OR '.join(f'contains({line}, {query.value(w)})' for w in sorted(words)) or 'true'})"
    )


def _names(field: str) -> str:
    return f'list(DISTINCT "{field}") FILTER (WHERE "{field}" IS NOT NULL)'


def _found(query: Query, line: str, term: Term) -> str:
    """
    The cheap test first: a line without the word's letters needs no regular expression.
    """
    longest = max(term.words, key=len)
    return (
        f"(contains({line}, {query.value(longest)})"
        f" AND regexp_matches({line}, {query.value(pattern(term))}))"
    )
