"""
Half a minute of a small node's life with programs that are really there: ranks of a solver, a
training with its workers, a parameter sweep, a build, a database, people at their shells.

    python bench/record.py bench/data/node.ndjson.gz --rename /tmp/leadline-work=/proj/users/eva \\
        -- python bench/workload.py

As root, people have user ids of their own. It takes about one core.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/tmp/leadline-work")
SOLVER = """
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    long n = atol(argv[2]) * 100000;
    double *field = calloc(n, sizeof *field);
    for (;;) {
        for (long i = 1; i < n - 1; i++) field[i] = (field[i - 1] + field[i + 1] + i) / 3;
        usleep(400000);
    }
}
"""
TRAIN = """
import hashlib, multiprocessing, time
def work(number):
    ballast = bytearray(number % 5 * 2_000_000)
    while True:
        hashlib.sha256(bytes(ballast[:200_000])).digest()
        time.sleep(0.2)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(16) as pool:
        pool.map(work, range(16))
"""
SWEEP = "perl -e 'while (1) { $s += rand() for 1..20000; select undef, undef, undef, 0.3 }'"
BUILD = "while :; do make -s -j3 clean all; sleep 1; done"
STEPS = "seq 1 400000 | sort -R | awk '{s+=$1} END {print s}' | gzip >part.gz"
PIPELINE = f"while :; do {STEPS}; sleep 1; done"
SERVE = "setInterval(() => JSON.stringify(process.memoryUsage()), 100)"
MAKEFILE = "all: $(addsuffix .o,$(basename $(wildcard part*.c)))\nclean:\n\trm -f part*.o\n"

Job = tuple[int, int, str | None, Sequence[str]]  # how many, user id, job, command

JOBS: tuple[Job, ...] = (
    (32, 70321, "8123456", ("./heat2d", "--cells", "8", "--steps", "1000000")),
    (1, 70321, "8123456", ("bash", "-c", "sleep 1000; :")),
    (
        1,
        70544,
        "8123511",
        ("/usr/bin/python3", "train.py", "--epochs", "90", "--batch-size", "256"),
    ),
    (1, 71200, "8123540", ("bash", "-c", PIPELINE)),
    (1, 71200, "8123541", ("bash", "-c", BUILD)),
    (2, 71200, "8123542", ("java", "-Xmx64m", "Idle.java", "MarkDuplicates", "INPUT=a.bam")),
    (3, 70102, None, ("node", "-e", SERVE)),
    (6, 70321, None, ("bash", "--norc", "-c", "read line; :")),
    (2, 70321, None, ("vim", "-u", "NONE", "--not-a-term", "INCAR")),
    (1, 70544, None, ("top", "-b", "-d", "2")),
    (3, 71007, None, ("tail", "-F", "slurm-8123533.out")),
    (2, 70102, None, ("ssh-agent", "-D")),
    (2, 71007, None, ("watch", "-n", "5", "squeue -u $USER")),
    (1, 0, None, ("dbus-daemon", "--session", "--nofork", "--address=unix:tmpdir=/tmp")),
    (1, 70102, None, ("sqlite3", "runs.db")),
    (1, 71007, None, ("gpg-agent", "--homedir", ".", "--supervised")),
)
SWEEPS = 48
IDLE = """
class Idle {
    public static void main(String[] words) throws Exception { Thread.sleep(99999999); }
}
"""


def main() -> None:
    FOLDER.mkdir()
    running: list[subprocess.Popen[bytes] | None] = []
    try:
        prepare(FOLDER)
        os.chdir(FOLDER)
        running += [start(job) for job in everything() for _ in range(job[0])]
        with suppress(KeyboardInterrupt):
            time.sleep(600)
    finally:
        for one in running:
            if one is not None:
                one.kill()
        shutil.rmtree(FOLDER, ignore_errors=True)


def everything() -> list[Job]:
    sweep = [(1, 71007, "8123533", sweep_command(number)) for number in range(SWEEPS)]
    return [*JOBS, *sweep]


def sweep_command(number: int) -> Sequence[str]:
    return (
        "bash",
        "-c",
        f"{SWEEP}; :",
        "sim.sh",
        f"--seed={1000 + 7 * number}",
        "--out",
        "results",
    )


def prepare(folder: Path) -> None:
    folder.chmod(0o777)
    (folder / "heat2d.c").write_text(SOLVER)
    (folder / "train.py").write_text(TRAIN)
    (folder / "Idle.java").write_text(IDLE)
    (folder / "Makefile").write_text(MAKEFILE)
    for number in range(24):
        (folder / f"part{number}.c").write_text("#include <stdio.h>\n" * 20 + f"int f{number};\n")
    subprocess.run(["cc", "-O2", "-o", "heat2d", "heat2d.c"], cwd=folder, check=True)


def start(job: Job) -> subprocess.Popen[bytes] | None:
    _, user, number, command = job
    if shutil.which(command[0]) is None:
        print(f"left out: {command[0]} is not here", file=sys.stderr)
        return None
    clean = {"PATH": os.environ["PATH"], "TERM": "xterm", "HOME": "."}
    return subprocess.Popen(
        command,
        env={**clean, "SLURM_JOB_ID": number} if number else clean,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=user if os.geteuid() == 0 else None,
        start_new_session=True,
    )


if __name__ == "__main__":
    main()
