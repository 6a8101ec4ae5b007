"""Every panel's search, on a real OpenSearch filled by the simulator; live mutants caught."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from click.testing import CliRunner

from kibana.build import objects
from kibana.live import Engine, check
from leadline.commands import cli
from leadline.store.opensearch import OpenSearchStore
from tests.kibana.conftest import NOW, PREFIX
from tests.kibana.test_objects import Objects, pick, state


def test_no_panel_is_empty(engine: Engine) -> None:
    """
    Each panel of each dashboard has data, each field is known, each saved query finds something.
    """
    report = check(objects(), engine, NOW, PREFIX)
    assert [] == report.broken
    assert [] == report.empty
    assert report.panels > 70
    assert report.searches > 100


def aim(found: Objects, name: str, pattern: str) -> None:
    """
    Let a visualisation read another index pattern.
    """
    pick(found, "visualization", name)["references"][0]["id"] = pattern


def ask(found: Objects, name: str, query: str) -> None:
    meta = pick(found, "visualization", name)["attributes"]["kibanaSavedObjectMeta"]
    meta["searchSourceJSON"]["query"]["query"] = query


def field(found: Objects, name: str, place: int, to: str) -> None:
    state(found, name)["aggs"][place]["params"]["field"] = to


def dashboard(found: Objects, name: str) -> dict[str, Any]:
    attributes = pick(found, "dashboard", name)["attributes"]
    assert isinstance(attributes, dict)
    return attributes


BROKEN: dict[str, tuple[str, Callable[[Objects], object]]] = {
    "a renamed field": (
        "unknown field core_hours",
        lambda o: field(o, "totals", 0, "core_hours"),
    ),
    "text for a keyword": (
        "cannot be aggregated",
        lambda o: field(o, "command-table", 2, "process.command_line.text"),
    ),
    "sum of a keyword": ("answers 400", lambda o: field(o, "totals", 0, "cluster")),
    "a misspelt field in a query": (
        "unknown field strai",
        lambda o: ask(o, "strays", "dataset:usage AND strai:true"),
    ),
    "a query that cannot be read": (
        "answers 400",
        lambda o: ask(o, "strays", "dataset:usage AND (stray:true"),
    ),
    "a path without quotes": (
        "answers 400",
        lambda o: pick(o, "query", "q-mpi")["attributes"]["query"].update(
            query="process.command_line.text:/usr"
        ),
    ),
    "a column nobody sends": (
        "unknown field colour",
        lambda o: pick(o, "search", "events")["attributes"]["columns"].append("colour"),
    ),
    "a control on text": (
        "cannot be aggregated",
        lambda o: (
            pick(o, "visualization", "controls")["references"][0].update(id="leadline-process"),
            state(o, "controls")["params"]["controls"][0].update(
                fieldName="process.command_line.text"
            ),
        ),
    ),
    "a time that is none": (
        "is not read here",
        lambda o: dashboard(o, "jobs").update(timeFrom="30 days ago"),
    ),
    "a visualisation that is gone": (
        "is not there",
        lambda o: o.remove(pick(o, "visualization", "tags")),
    ),
}
EMPTY: dict[str, tuple[str, Callable[[Objects], object]]] = {
    "a swapped time range": (
        "no document fits",
        lambda o: dashboard(o, "jobs").update(timeFrom="now", timeTo="now-30d"),
    ),
    "a time range before the data": (
        "no document fits",
        lambda o: dashboard(o, "jobs").update(timeFrom="now-2y", timeTo="now-1y"),
    ),
    "another dataset": ("no document fits", lambda o: ask(o, "tags", "dataset:process")),
    "a field of another dataset": (
        "aggregation 1 has no value",
        lambda o: field(o, "node-load", 0, "filesystem.used.bytes"),
    ),
    "another index": ("no document fits", lambda o: aim(o, "tags", "leadline-process")),
    "an index nobody writes": (
        "there is no index",
        lambda o: pick(o, "index-pattern", "gpu")["attributes"].update(title="leadline-cards-*"),
    ),
    "a filter of the dashboard that fits nothing": (
        "no document fits",
        lambda o: dashboard(o, "jobs")["kibanaSavedObjectMeta"]["searchSourceJSON"]["query"].update(
            query="cluster:nowhere"
        ),
    ),
    "a saved query that finds nothing": (
        "no document fits",
        lambda o: pick(o, "query", "q-long")["attributes"]["query"].update(
            query="cpu.percent:[1000000 TO *]"
        ),
    ),
}


@pytest.mark.parametrize(("told", "mutant"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_work_is_broken(
    engine: Engine, told: str, mutant: Callable[[Objects], object]
) -> None:
    """
    What shows nothing whatever the data is told, with the reason.
    """
    assert told in "\n".join(check(changed(mutant), engine, NOW, PREFIX).broken)


@pytest.mark.parametrize(("told", "mutant"), EMPTY.values(), ids=EMPTY)
def test_what_finds_nothing_is_empty(
    engine: Engine, told: str, mutant: Callable[[Objects], object]
) -> None:
    """
    An engine answers 200 and nothing; that is told as well.
    """
    report = check(changed(mutant), engine, NOW, PREFIX)
    assert told in "\n".join(report.empty)


def changed(mutant: Callable[[Objects], object]) -> Objects:
    found = copy.deepcopy(objects())
    mutant(found)
    return found


def test_boolean_and_number_are_searched_without_an_index(filled: OpenSearchStore) -> None:
    """
    Flags and figures are kept by column only; a query for them finds just those that fit.
    """
    count = partial(hits_of, filled)
    assert count("process", "dataset:process AND stray:true") == 4
    everything = count("process", "dataset:process AND _exists_:cpu.percent")
    hot = count("process", "dataset:process AND cpu.percent:[100 TO *]")
    cold = count("process", "dataset:process AND cpu.percent:[* TO 100}")
    assert 4 <= hot < everything
    assert hot + cold == everything


def hits_of(store: OpenSearchStore, family: str, text: str) -> int:
    asked = {"size": 0, "track_total_hits": True, "query": {"query_string": {"query": text}}}
    answer = store.client.post(f"/{PREFIX}-{family}-*/_search", asked)
    return int(answer["hits"]["total"]["value"])


def test_command_tells_panels_without_data(opensearch: str) -> None:
    """
    `leadline setup --check-dashboards` on a store without documents: no panel works, each is told.
    """
    store = f"opensearch={opensearch}"
    done = CliRunner().invoke(cli, ["--store", store, "setup", "--check-dashboards"])
    panels = done.output.splitlines()[-1]
    assert re.fullmatch(r"\d+ panels, \d+ searches: \d+ broken, [1-9]\d* empty", panels)
    assert "empty  dashboard/leadline-jobs: leadline-job-totals: " in done.output


def test_command_wants_opensearch() -> None:
    """
    The lake has no dashboards: one line says what to write instead.
    """
    done = CliRunner().invoke(cli, ["--store", "memory", "setup", "--check-dashboards"])
    assert 1 == done.exit_code
    assert "--store opensearch=" in str(done.exception)
