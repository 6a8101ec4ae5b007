"""The chain: the same steps for every document, once or twice, in any order."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enrich.chain import Chain, build_chain
from enrich.settings import EnrichSettings
from enrich.step import Context, Step
from enrich.steps import BUILT_IN
from leadline.errors import FormatError, SettingsError
from leadline.formats import DATASETS
from leadline.formats.validate import check, read_line
from tests.enrich.conftest import make_line, make_sample

FIXTURES_ARE_FINE = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

documents = st.fixed_dictionaries(
    {
        "process.entity_id": st.text(min_size=1, max_size=5),
        "process.name": st.sampled_from(["python3", "vasp_std", "bash", "gmx_mpi", "unheard-of"]),
    },
    optional={
        "process.command_line": st.sampled_from(
            ["python3 -m torch.distributed.run x.py", "mysql -psecret", "srun ./a.out"]
        )
        | st.text(min_size=1, max_size=30),
        "cluster": st.sampled_from(["fox", "old_fox", "owl", "a_b", "a-b"]),
        "job.local_id": st.sampled_from(["17", "17.3", "b00t-44-9", "c1-1/b00t-44-9"]),
        "invented.field": st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
        "labels": st.dictionaries(st.text(min_size=1, max_size=5), st.integers(0, 9), max_size=3),
        "program.name": st.just("claimed by the sender"),
    },
)


@FIXTURES_ARE_FINE
@given(documents)
def test_enriching_twice_is_enriching_once(chain: Chain, fields: dict[str, object]) -> None:
    """
    A document that passes the worker twice, or a second worker, is the same document.
    """
    once = chain.one(read_line(make_line(**fields)))
    again = chain.one(read_line(orjson.dumps(once)))
    assert once == again


@FIXTURES_ARE_FINE
@given(
    documents, st.text(min_size=1, max_size=8), st.integers(0, 9) | st.text(min_size=1, max_size=5)
)
def test_unknown_fields_survive(
    chain: Chain, fields: dict[str, object], name: str, value: object
) -> None:
    """
    What a newer shipper sends is kept, under labels.
    """
    raw = {**make_sample(**fields), "labels": {f"x.{name}": value}}
    assert value == chain.one(check(raw))["labels"][f"x.{name}"]  # type: ignore[index]


@FIXTURES_ARE_FINE
@given(st.lists(documents, max_size=6), st.randoms())
def test_order_of_documents_does_not_matter(
    context: Context, many: list[dict[str, object]], dice: object
) -> None:
    """
    No step remembers anything that changes the next document.
    """
    shuffled = list(range(len(many)))
    dice.shuffle(shuffled)  # type: ignore[attr-defined]

    def run(order: list[int]) -> dict[int, object]:
        chain = build_chain(context)
        out = {n: chain.one(check(make_sample(**deepcopy(many[n])))) for n in order}
        return {n: {k: v for k, v in d.items() if k != "event.ingested"} for n, d in out.items()}

    assert run(list(range(len(many)))) == run(shuffled)


def test_sample_gets_everything_it_is_asked_by(chain: Chain) -> None:
    """
    Program, place in the hierarchy, shape, qualified job, local time and versions, in one pass.
    """
    document = chain.one(make_sample(**{"process.name": "vasp_std", "job.local_id": "17"}))
    expected = {
        "program.name": "VASP",
        "program.level1": "chemistry",
        "job.id": "fox/17",
        "local.day": "2026-03-29",
        "local.hour": 1,
        "local.weekday": 7,
        "schema.version": 1,
    }
    assert expected == {name: document[name] for name in expected}
    assert document["program.level2"].startswith("chemistry/")  # type: ignore[attr-defined]
    assert {"program.rule", "command.shape", "event.ingested", "rules.version"} <= set(document)


def test_a_claimed_program_does_not_stay(chain: Chain) -> None:
    """
    Only the rules name programs: what a sender wrote there is taken away.
    """
    document = chain.one(
        make_sample(
            **{
                "process.name": "unheard-of",
                "process.command_line": "unheard-of",
                "program.name": "x",
                "program.version": "1",
            }
        )
    )
    assert "program.name" not in document
    assert "program.version" not in document


def test_equal_reads_cost_one_look_up(chain: Chain) -> None:
    """
    A command seen before is looked up, not matched; program and tags share the look-up.
    """
    for number in range(50):
        chain.one(make_sample(number))
    assert (50, 1) == chain.cached()["program+tags"]


def test_a_small_cache_forgets_and_still_answers(context: Context) -> None:
    """
    Memory is bounded: with room for two commands a hundred still get their names.
    """
    chain = build_chain(context, EnrichSettings(cache_entries=2))
    names = {
        chain.one(make_sample(n, **{"process.name": f"x{n % 10}"}))["command.shape"]
        for n in range(100)
    }
    assert len(names) >= 1
    group = next(part for part in chain._parts if getattr(part, "name", "") == "program+tags")
    assert len(group.cache) <= 3  # type: ignore[union-attr]


def test_document_without_cluster_is_refused(chain: Chain) -> None:
    """
    Nobody's document has no place; the message says the way out.
    """
    raw = make_sample()
    del raw["cluster"]
    with pytest.raises(FormatError, match="--cluster"):
        chain.one(raw)


def test_refused_documents_are_told_apart(chain: Chain) -> None:
    """
    One that cannot be enriched does not stop the others.
    """
    done, rejected = chain.many(
        [make_sample(1), make_sample(2, cluster="no name!"), make_sample(3)]
    )
    assert ["1-1", "3-1"] == [document["process.entity_id"] for document in done]
    assert 1 == len(rejected)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_step_sets_what_it_declares_and_nothing_else(name: str, context: Context) -> None:
    """
    Bulk mapping relies on `writes`: a step that set more would be lost there.
    """
    step = BUILT_IN[name].build(context)
    if not isinstance(step, Step):
        assert name in {"redact", "job_context", "ingested"}
        return
    values = [make_sample(**{"job.local_id": "17"}).get(field) for field in step.reads]
    assert set(step.compute(*values)) <= set(step.writes)
    known = {field for dataset in DATASETS.values() for field in dataset.by_name}
    assert set(step.reads) | set(step.writes) <= known


def test_steps_are_chosen_by_name(context: Context) -> None:
    """
    A step nobody has, or a chain that would keep secrets, is refused.
    """
    with pytest.raises(SettingsError, match="none of redact"):
        build_chain(context, EnrichSettings(steps=("redact", "magic")))
    with pytest.raises(SettingsError, match="redact comes first"):
        build_chain(context, EnrichSettings(steps=("program",)))


def test_every_dataset_passes(
    chain: Chain, each_dataset: Callable[[str], dict[str, object]]
) -> None:
    """
    The chain has a way through for all datasets, not only for samples.
    """
    for name in DATASETS:
        assert "event.ingested" in chain.one(each_dataset(name))


@pytest.fixture
def each_dataset() -> Callable[[str], dict[str, object]]:
    def make(name: str) -> dict[str, object]:
        return {"@timestamp": "2026-01-01T00:00:00.000Z", "dataset": name, "cluster": "fox"}

    return make
