"""What really runs behind wrappers and interpreters."""

import pytest

from enrich.rules import Rules
from enrich.rules.unwrap import levels, words


def first(command: str, name: str | None = None, executable: str | None = None) -> str:
    return levels(name, executable, command)[0].name


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("/opt/bin/prog -x 1", "prog"),
        ("-bash", "bash"),
        ("python train.py --x", "train.py"),
        ("python3.11 -u -W ignore /opt/conda/bin/snakemake -j 4", "snakemake"),
        ("python -m torch.distributed.run train.py", "torch.distributed.run"),
        ("java -Xmx4g -cp a.jar:b.jar org.example.Main in", "org.example.Main"),
        ("java -Xmx4g -jar /opt/picard.jar Sort", "picard.jar"),
        ("Rscript --vanilla model.R 3", "model.R"),
        ("perl -I lib /usr/bin/tool.pl a", "tool.pl"),
        ("bash /home/alice/run.sh", "run.sh"),
        ("bash -c gmx mdrun -v", "gmx"),
        ("bash -lc 'cd /work && export A=1; OMP=4 gmx mdrun -v'", "gmx"),
        ("sh -c \"sleep 3; './solver' 4\"", "solver"),
        ("mpirun -np 64 --map-by core -mca btl tcp,self vasp_std", "vasp_std"),
        ("mpiexec.hydra -genv I_MPI_PIN 1 -n 4 ./wrf.exe", "wrf.exe"),
        ("srun -n 4 --mpi pmix --cpu-bind=cores ./a.out", "a.out"),
        ("apptainer exec --nv -B /work:/work img.sif python -m vllm.entry", "vllm.entry"),
        ("singularity -q run img.sif blastp -query a", "blastp"),
        ("docker run --rm -v /a:/b -e X=1 image:1 samtools sort", "samtools"),
        ("podman run -it image bash -c 'bwa mem a'", "bwa"),
        ("conda run -n env --no-capture-output python -m pytest", "pytest"),
        ("env -i A=1 B=2 nice -n 10 timeout -k 5 3600 ./prog 1", "prog"),
        ("time -v numactl --cpunodebind=0 -m 0 ./prog", "prog"),
        ("taskset -c 0-3 ./prog", "prog"),
        ("taskset 0xf ./prog", "prog"),
        ("sudo -u alice A=1 ./prog", "prog"),
        ("xargs -n 1 -P 8 gzip", "gzip"),
        ("nohup setsid stdbuf -oL ./prog", "prog"),
        ("srun apptainer exec x.sif conda run -n e python /opt/bin/snakemake", "snakemake"),
        ("wine 'C:\\Program Files\\tool.exe'", "tool.exe"),
        ("timeout 60", "timeout"),
    ],
)
def test_wrappers_and_interpreters_are_taken_away(command: str, runs: str) -> None:
    """
    What a wrapper starts, or an interpreter reads, is asked before the wrapper itself.
    """
    assert runs == first(command)


def test_interpreter_is_the_last_that_is_asked() -> None:
    """
    A script nobody names leaves the interpreter, from the inside out.
    """
    asked = [level.name for level in levels("python3", None, "srun python3 my.py")]

    assert ["my.py", "python3", "srun"] == asked


def test_module_is_asked_whole_and_by_its_package() -> None:
    """
    `python -m vllm.entrypoints.api` may be named by a rule for `vllm`.
    """
    asked = [level.name for level in levels(None, None, "python -m vllm.entrypoints.api --port 1")]

    assert ["vllm.entrypoints.api", "vllm", "python"] == asked


def test_kernel_name_and_executable_are_asked_when_the_title_was_rewritten() -> None:
    """
    A daemon that rewrites its command line is still known by its file.
    """
    asked = levels("worker", "/usr/lib/postgresql/15/bin/postgres (deleted)", "writer 1 2")

    assert ["writer", "worker", "postgres"] == [level.name for level in asked]
    assert "/usr/lib/postgresql/15/bin/postgres" == asked[-1].path


def test_cut_kernel_name_adds_nothing_to_the_whole_one() -> None:
    """
    The name cut at 15 bytes is not asked beside the name it was cut from.
    """
    asked = levels("containerd-shim", None, "/usr/bin/containerd-shim-runc-v2 -id 3")

    assert ["containerd-shim-runc-v2"] == [level.name for level in asked]


@pytest.mark.parametrize("command", ["'", '"a b', "bash -c", "python -m", "env", "\\", "a\\"])
def test_torn_commands_are_still_commands(command: str) -> None:
    """
    Unclosed quotes and wrappers of nothing are read as they stand.
    """
    assert levels("x", None, command)


def test_quotes_are_read_as_a_shell_would() -> None:
    """
    A quoted word keeps its spaces, and its quotes go.
    """
    assert ["a b", "c'd", "e"] == words("'a b' \"c'd\" e")


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("python train.py", "Python"),
        ("python -m torch.distributed.run train.py", "PyTorch"),
        ("bash -c 'gmx mdrun'", "GROMACS"),
        ("mpirun ./a.out", "MPI launcher"),
        ("nice -n 5 ./a.out", None),
        ("apptainer exec a.sif ./a.out", "Apptainer"),
        ("timeout 1h vasp_std", "VASP"),
    ],
)
def test_shipped_rules_name_what_really_runs(
    shipped: Rules, command: str, program: str | None
) -> None:
    """
    A launcher or interpreter gives its name when nothing inside has one; a prefix never does.
    """
    assert program == shipped.match(None, None, command).program
