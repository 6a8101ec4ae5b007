"""
Advice speaks by what was seen, and says so where too little was.
"""

from __future__ import annotations

from leadline.reports.advice import advise
from leadline.reports.job_text import summary
from tests.reports.test_job import advised, record, samples, view
from tests.reports.test_scale import node

HALF = 8 * 7200.0  # core seconds of eight cores all the time


def test_half_a_life_tells_no_peak() -> None:
    """
    Measured in its second half only: what would have sufficed is not known, and gaps are told.
    """
    seen = view(
        record(**{"job.core_seconds.used": 1.5 * HALF}), *samples(8, 10, ticks=range(6, 12))
    )
    told = {known.about: known.remedy for known in advise(seen)}
    assert "" == told["cpu"]
    assert "memory" not in told
    assert (None, 12.0) == (seen.cpu.peak, seen.cpu.mean)
    text = summary(seen, advise(seen))
    assert "5 missing" in text
    assert "Samples saw 58 % of its time, 33 % of its CPU time: too little" in text


def test_an_accounted_peak_needs_no_samples() -> None:
    """
    The scheduler's own peak is of the whole run: memory is advised on without a sample.
    """
    assert "--mem=24G" in advised(record(**{"job.memory.peak.bytes": 20 * 2**30}))["memory"]


def test_samples_that_missed_most_of_the_cpu_time() -> None:
    """
    Two cores in samples, fourteen accounted: no peak below the mean, nothing said of threads.
    """
    seen = view(record(**{"job.core_seconds.used": 14 * 7200.0}), *samples(2, 10))
    assert (None, 14.0) == (seen.cpu.peak, seen.cpu.mean)
    assert "memory" not in {known.about for known in advise(seen)}
    assert "14 % of its CPU time" in summary(seen, advise(seen))


def test_a_node_that_did_nothing() -> None:
    """
    Two nodes, the work on one: the other is named; of one nobody looked at nothing is said.
    """
    both = record(**{"job.nodes": ["c1", "c2"], "job.node.count": 2, "job.cores": 32})
    idle = advised(both, *samples(15.8, 30), node("c2"))["cpu"]
    assert "1 of 2 nodes did nothing: c2." in idle
    assert "--nodes=1" in idle
    seen = view(both, *samples(15.8, 30), node("c2"))
    assert "c2  no process of it was seen" in summary(seen, [])
    unknown = view(both, *samples(15.8, 30))
    assert [None] == [one.cores for one in unknown.nodes if one.host == "c2"]
    assert not any("nodes did nothing" in known.text for known in advise(unknown))
    assert "c2  not sampled" in summary(unknown, [])


def test_options_are_copied_without_a_full_stop() -> None:
    """
    What ends with an option ends there; other sentences end as sentences do.
    """
    seen = view(record(), *samples(1, 30))
    lines = summary(seen, advise(seen), 200).splitlines()
    assert [True] == [line.endswith("--cpus-per-task=1") for line in lines if "ntasks" in line]
    assert [True] == [line.endswith("leaves room.") for line in lines if "--mem" in line]


def test_grid_engine_is_spoken_to_in_its_words() -> None:
    """
    A serial run in a parallel environment, a node that did nothing: none of Slurm's options.
    """
    sge = {"job.scheduler": "sge"}
    assert "leave -pe out" in advised(record(**sge), *samples(1, 30))["cpu"]
    both = {"job.nodes": ["c1", "c2"], "job.node.count": 2, "job.cores": 32}
    assert "fewer slots" in advised(record(**both, **sge), *samples(15.8, 30), node("c2"))["cpu"]


def test_what_ended_it_comes_first() -> None:
    """
    Out of memory asks for more, whatever was used on other nodes; so does the time limit.
    """
    killed = advised(record(**{"job.state": "OUT_OF_MEMORY"}), *samples(16, 20))
    assert "It ran out of memory: 64 GiB were not enough." in killed["memory"]
    assert "--mem" not in killed["memory"]
    late = advised(record(**{"job.state": "TIMEOUT", "job.limit.seconds": 7200.0}))
    assert "It was ended at its time limit, 02:00." in late["time"]
