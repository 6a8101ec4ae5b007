"""Ended runs as sacct tells them: hours, memory, exit; those that never ran used nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.gres import Gres
from leadline.formats.validate import check
from shipper.collectors.slurm import sacct
from shipper.collectors.slurm.accounting import PATIENCE, Accounting, command
from shipper.collectors.slurm.from_text import CUT
from shipper.collectors.slurm.records import JobSeen
from shipper.settings import SlurmLiveSettings
from tests.shipper.fake import FakeSystem
from tests.shipper.slurm.conftest import capture


def row(**more: str) -> sacct.Row:
    usual = dict.fromkeys(sacct.COLUMNS, "")
    usual |= {
        "JobIDRaw": "7",
        "JobID": "7",
        "State": "COMPLETED",
        "ExitCode": "0:0",
        "Submit": "2026-11-21T06:00:00",
        "Start": "2026-11-21T06:01:00",
        "End": "2026-11-21T07:01:00",
        "ElapsedRaw": "3600",
        "AllocCPUS": "8",
        "NNodes": "1",
        "NodeList": "n1",
        "TotalCPU": "45:21.005",
        "AllocTRES": "cpu=8,gres/gpu:a100=2,gres/gpu=2",
    }
    return {**usual, **more}


def step(**more: str) -> sacct.Row:
    return {**dict.fromkeys(sacct.COLUMNS, ""), "JobIDRaw": "7.0", **more}


def whole(*steps: sacct.Row, **more: str) -> Document:
    return check(sacct.document(row(**more), list(steps), {}))


def real(name: str) -> Document:
    found = [sacct.document(run, steps, {}) for run, steps in sacct.read(capture("sacct.txt"))]
    (one,) = [document for document in found if document["job.name"] == name]
    return check(one)


def test_failed_job_of_the_capture() -> None:
    """
    Exit code, nodes and wall time of a real record.
    """
    failed = real("fail")
    assert ("FAILED", 3, ["n1"]) == (
        failed["job.state"],
        failed["job.exit_code"],
        failed["job.nodes"],
    )
    assert failed["provisional"] is False


def test_job_cancelled_before_it_started_used_nothing() -> None:
    """
    Slurm 22.05 writes as AllocCPUS what was asked for; it is not counted.
    """
    later = real("later")
    assert "CANCELLED" == later["job.state"]
    assert not {"job.cores", "job.wall.seconds", "job.start"} & set(later)


def test_hours_are_reckoned_by_the_second() -> None:
    """
    Cores and cards times wall; the CPU time to the millisecond; cards counted once.
    """
    made = whole()
    assert (28800, 7200, 2721.005) == (
        made["job.core_seconds.allocated"],
        made["job.gpu_seconds.allocated"],
        made["job.core_seconds.used"],
    )
    assert 60 == made["job.wait.seconds"]


def test_who_cancelled_is_no_part_of_the_state() -> None:
    """
    `CANCELLED by 1001` is found by state CANCELLED.
    """
    made = whole(State="CANCELLED by 1001")
    assert ("CANCELLED", "1001") == (made["job.state"], made["job.cancelled_by"])


def test_memory_is_the_largest_step_over_its_tasks() -> None:
    """
    The total over tasks where Slurm tells it; the largest task only where there is one task.
    """
    steps = (
        step(TRESUsageInTot="cpu=00:00:01,mem=3068K", NTasks="4", MaxRSS="1000K"),
        step(TRESUsageInTot="cpu=00:00:01,mem=8000K", NTasks="4", MaxRSS="2000K"),
    )
    made = whole(*steps)
    assert (8000 * 1024, "step") == (made["job.memory.peak.bytes"], made["job.memory.basis"])
    assert "task" == whole(step(NTasks="1", MaxRSS="5M"))["job.memory.basis"]
    assert "job.memory.peak.bytes" not in whole(step(NTasks="2", MaxRSS="5M"))


def test_ended_run_stands_above_unended_ones() -> None:
    """
    However late somebody reads a list in which it still ran.
    """
    ended, running = whole(), whole(State="RUNNING", End="Unknown")
    assert ended["record.version"] > 4_000_000_000 > running["record.version"]  # type: ignore[operator]


def test_memory_not_measured_is_absent() -> None:
    """
    What sacct writes of a step that was killed before anybody measured it.
    """
    for text in ("mem=16?", "mem=0", "mem=18446744073709551615", "energy=0"):
        assert "job.memory.peak.bytes" not in whole(step(TRESUsageInTot=text))


def test_a_row_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    """
    It waits; those beside it go out.
    """
    other = JobSeen(id=8, state="COMPLETED", submit=OVER.submit, user="bob", nodes="n1")
    rows = [row(AllocTRES="gres/gpu=(("), row(JobIDRaw="8", JobID="8")]
    system = FakeSystem(tmp_path / "machine")
    raw = "\n".join(CUT.join(one.values()) for one in rows).encode()
    system.outputs[" ".join(command("7,8"))] = raw
    accounting = Accounting(system, SlurmLiveSettings())
    (done,) = accounting.complete([OVER, other], {}, 1000, 1e9)
    assert "8" == done["job.local_id"]


@pytest.mark.parametrize(
    ("text", "expected"), [("200M", 200), ("4Gc", 8 * 4096), ("4Gn", 2 * 4096), ("", None)]
)
def test_memory_asked_for_is_of_the_whole_run(text: str, expected: int | None) -> None:
    """
    Older versions write it per core or per node.
    """
    made = whole(ReqMem=text, ReqCPUS="8", NNodes="2")
    assert made.get("job.asked.memory.bytes") == (expected and expected * 1024**2)


def test_array_tasks_and_parts_are_named() -> None:
    """
    Task 3 of array 4; part 1 of the heterogeneous job 19.
    """
    made = whole(JobID="4_3", JobIDRaw="36")
    assert ("36", "4", "3") == (
        made["job.local_id"],
        made["job.array.id"],
        made["job.array.task"],
    )
    assert 1 == whole(JobID="19+1", JobIDRaw="20")["job.het.offset"]


def test_a_name_may_hold_anything() -> None:
    """
    The separator of sacct -P in a job's name moves no column.
    """
    raw = CUT.join([*(row(JobName='we|rd "n" a=b').values())]) + "\n"
    ((run, _),) = sacct.read(raw.encode())
    assert 'we|rd "n" a=b' == run["JobName"]


def test_a_torn_line_is_refused() -> None:
    """
    Too few columns are no record.
    """
    with pytest.raises(FormatError):
        list(sacct.read(b"7\x1f8\n"))


def test_secrets_of_the_submit_line_stay_here() -> None:
    """
    Redacted on the machine that read it.
    """
    made = whole(SubmitLine="sbatch --wrap 'mysql --password=hunter2'")
    assert "hunter2" not in str(made["job.command_line"])


def asks(tmp_path: Path, answer: bytes | None) -> Accounting:
    system = FakeSystem(tmp_path / "machine")
    system.outputs[" ".join(command("7"))] = answer
    return Accounting(system, SlurmLiveSettings())


OVER = JobSeen(id=7, state="COMPLETED", submit=1795240800, end=1795244460, user="alice", nodes="n1")


def test_run_is_asked_for_until_slurmdbd_knows(tmp_path: Path) -> None:
    """
    slurmdbd lags behind; a record that has not ended yet is no answer.
    """
    running = row(State="RUNNING", End="Unknown")
    accounting = asks(tmp_path, CUT.join(running.values()).encode())
    assert [] == accounting.complete([OVER], {}, OVER.submit or 0, 1e9)
    system = accounting._system
    assert isinstance(system, FakeSystem)
    system.outputs[" ".join(command("7"))] = CUT.join(row().values()).encode()
    (done,) = accounting.complete([], {}, OVER.submit or 0, 1e9)
    assert "sacct" == done["job.source"]
    assert [] == accounting.complete([], {}, OVER.submit or 0, 1e9)


def test_a_record_without_its_beginning_is_waited_for(tmp_path: Path) -> None:
    """
    slurmdbd 22.05 has the end of a run for seconds before it has its name and submit line.
    """
    half = CUT.join(row(JobName="allocation").values()).encode()
    named = replace(OVER, name="train")
    assert [] == asks(tmp_path, half).complete([named], {}, OVER.submit or 0, 1e9)
    allocation = replace(OVER, name="allocation")
    assert 1 == len(asks(tmp_path, half).complete([allocation], {}, OVER.submit or 0, 1e9))


def test_another_run_of_the_same_id_is_not_taken(tmp_path: Path) -> None:
    """
    Numbers are used again; a run is its id and its submit time.
    """
    other = row(Submit="2024-01-01T00:00:00")
    accounting = asks(tmp_path, CUT.join(other.values()).encode())
    assert [] == accounting.complete([OVER], {}, OVER.submit or 0, 1e9)


def test_after_long_squeue_has_the_last_word(tmp_path: Path) -> None:
    """
    Where slurmdbd never answers, the run is not provisional for ever.
    """
    accounting = asks(tmp_path, None)
    assert [] == accounting.complete([OVER], {}, 1000, 1e9)
    assert [] == accounting.complete([], {}, 1000 + PATIENCE - 1, 1e9)
    (done,) = accounting.complete([], {}, 1000 + PATIENCE, 1e9)
    assert ("squeue", False) == (done["job.source"], done["provisional"])


def test_requeued_run_gets_its_last_state(tmp_path: Path) -> None:
    """
    squeue showed it RUNNING and then no more; sacct tells how it ended.
    """
    accounting = asks(tmp_path, CUT.join(row(State="PREEMPTED").values()).encode())
    gone = JobSeen(id=7, state="RUNNING", submit=OVER.submit, user="alice", nodes="n1")
    made = accounting.complete([gone], {}, 1795999999, 1e9)
    assert ["job", "job_state"] == [document["dataset"] for document in made]
    assert "PREEMPTED" == made[1]["state.name"]


def test_restarted_shipper_goes_on_waiting(tmp_path: Path) -> None:
    """
    What squeue knew of a run is kept; of one that vanished meanwhile sacct tells who it was.
    """
    before = asks(tmp_path, None)
    held = replace(OVER, gpus=(Gres("gpu", "a100", 2),), flags=("STOPPED",))
    before.complete([held], {}, 1000, 1e9)
    after = asks(tmp_path, None)
    after.restore(orjson.loads(orjson.dumps(before.dump())))
    (done,) = after.complete([], {}, 1000 + PATIENCE, 1e9)
    assert ("alice", 2, ["n1"]) == (done["user.name"], done["job.gpus"], done["job.nodes"])

    gone = JobSeen(id=7, state="RUNNING", submit=OVER.submit)
    told = row(State="TIMEOUT", User="bob")
    vanished = asks(tmp_path, CUT.join(told.values()).encode())
    (_, state) = vanished.complete([gone], {}, 1795999999, 1e9)
    assert ("TIMEOUT", "bob") == (state["state.name"], state["user.name"])


def test_one_call_has_a_bounded_number_of_ids(tmp_path: Path) -> None:
    """
    However many runs ended at once.
    """
    asked: list[str] = []

    class Listening(FakeSystem):
        def run(self, words: object, timeout: float = 10.0) -> bytes | None:
            asked.append(str(words))
            return None

    accounting = Accounting(Listening(tmp_path / "machine"), SlurmLiveSettings(accounting_batch=50))
    many = [JobSeen(id=n, state="COMPLETED", submit=1) for n in range(1000)]
    accounting.complete(many, {}, 0, 1e9)
    assert 1 == len(asked)
    assert 50 == asked[0].partition("-j', '")[2].partition("'")[0].count(",") + 1
