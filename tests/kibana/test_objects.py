"""The saved objects: built as committed, every rule of the products kept, mutants caught."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from kibana.build import BUILT, built, objects, shipped
from kibana.check import problems

Objects = list[dict[str, Any]]


def test_built_file_is_the_committed_one() -> None:
    """
    `python -m kibana.build` would change nothing.
    """
    assert BUILT.read_text(encoding="utf-8") == built()


def test_built_file_reads_back_as_the_sources() -> None:
    """
    An installation without the sources checks the same objects.
    """
    assert objects() == shipped()


def test_every_object_keeps_the_rules() -> None:
    """
    No rule that can be checked on the files is broken.
    """
    assert [] == problems(objects())
    assert len(objects()) > 60


def test_file_has_the_form_of_the_import() -> None:
    """
    One object a line; what the products keep as text is text; no key of a newer product.
    """
    lines = [json.loads(line) for line in built().splitlines()]
    assert {"exportedCount": len(lines) - 1} == {"exportedCount": lines[-1]["exportedCount"]}
    for one in lines[:-1]:
        for name in ("visState", "panelsJSON", "uiStateJSON", "optionsJSON", "fieldFormatMap"):
            assert isinstance(one["attributes"].get(name, ""), str)
        assert not {"coreMigrationVersion", "typeMigrationVersion"} & set(one)


def pick(found: Objects, kind: str, name: str) -> dict[str, Any]:
    return next(one for one in found if one["type"] == kind and one["id"] == f"leadline-{name}")


def state(found: Objects, name: str) -> dict[str, Any]:
    visual = pick(found, "visualization", name)["attributes"]["visState"]
    assert isinstance(visual, dict)
    return visual


def swap_buckets(found: Objects) -> None:
    aggs = state(found, "core-by-program")["aggs"]
    aggs[1], aggs[2] = aggs[2], aggs[1]


MUTANTS: dict[str, Callable[[Objects], object]] = {
    "a field renamed": lambda o: state(o, "top-programs")["aggs"][0]["params"].update(field="cpu"),
    "a reference dropped": lambda o: pick(o, "visualization", "top-users")["references"].clear(),
    "a reference that dangles": lambda o: pick(o, "dashboard", "jobs")["references"][3].update(
        id="leadline-gone"
    ),
    "text for a keyword": lambda o: state(o, "command-table")["aggs"][2]["params"].update(
        field="process.command_line.text"
    ),
    "an unknown attribute": lambda o: pick(o, "dashboard", "nodes")["attributes"].update(
        controlGroupInput={}
    ),
    "a newer version": lambda o: pick(o, "visualization", "tags")["migrationVersion"].update(
        visualization="8.0.0"
    ),
    "an underscore in an id": lambda o: pick(o, "search", "events").update(id="leadline-a_b"),
    "sum of a keyword": lambda o: state(o, "totals")["aggs"][0]["params"].update(field="cluster"),
    "terms without shard_size": lambda o: state(o, "tags")["aggs"][1]["params"].pop("json"),
    "order by what is not there": lambda o: state(o, "tags")["aggs"][1]["params"].update(
        orderBy="9"
    ),
    "time before group": swap_buckets,
    "a panel too wide": lambda o: pick(o, "dashboard", "users")["attributes"]["panelsJSON"][0][
        "gridData"
    ].update(w=49),
    "panels that overlap": lambda o: pick(o, "dashboard", "users")["attributes"]["panelsJSON"][1][
        "gridData"
    ].update(y=0),
    "two metrics in a pie": lambda o: state(o, "by-cluster")["aggs"].append(
        copy.deepcopy(state(o, "by-cluster")["aggs"][0])
    ),
    "a control on a stranger": lambda o: state(o, "controls")["params"]["controls"][0].update(
        fieldName="colour"
    ),
    "a type of one product": lambda o: pick(o, "query", "q-mpi").update(type="lens"),
    "no dataset named": lambda o: pick(o, "visualization", "tags")["attributes"][
        "kibanaSavedObjectMeta"
    ]["searchSourceJSON"]["query"].update(query=""),
    "a visualisation nobody shows": lambda o: o.append(
        {**copy.deepcopy(pick(o, "visualization", "tags")), "id": "leadline-orphan"}
    ),
    "a description gone": lambda o: pick(o, "visualization", "tags")["attributes"].pop(
        "description"
    ),
    "the time range not restored": lambda o: pick(o, "dashboard", "jobs")["attributes"].update(
        timeRestore=False
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_mutant_is_caught(mutant: Callable[[Objects], object]) -> None:
    """
    Each way to break an object is noticed.
    """
    changed = copy.deepcopy(objects())
    mutant(changed)
    assert problems(changed)
