"""
Commands that run other commands: how each is told from what it runs.

Three kinds. A *prefix* (env, nice, timeout) replaces or merely starts what it runs: it never gives
its name to it. A *launcher* (mpirun, srun, apptainer) and an *interpreter* (python, bash) live on
beside or as what they run, and name it when nothing more telling does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
    PREFIX = "prefix"
    LAUNCHER = "launcher"
    INTERPRETER = "interpreter"


@dataclass(frozen=True)
class Wrapper:
    kind: Kind
    takes_value: frozenset[str] = frozenset()  # options whose value is the next word
    skip: int = 0  # words before the inner command: the image, the duration, the mask
    verbs: frozenset[str] = frozenset()  # only these sub-commands run something
    assignments: bool = False  # NAME=value words come first
    modules: frozenset[str] = frozenset()  # options whose value is what runs (python -m, java -jar)
    code: frozenset[str] = frozenset()  # options followed by code, not by a command
    shell: frozenset[str] = frozenset()  # options followed by a shell's line
    dotted: bool = False  # a module is named by its package too (python -m vllm.entrypoints)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _prefix(values: str = "", skip: int = 0, *, assignments: bool = False) -> Wrapper:
    return Wrapper(Kind.PREFIX, _words(values), skip, assignments=assignments)


def _launcher(values: str = "", skip: int = 0, verbs: str = "") -> Wrapper:
    return Wrapper(Kind.LAUNCHER, _words(values), skip, _words(verbs))


def _interpreter(values: str = "", modules: str = "", code: str = "", lines: str = "") -> Wrapper:
    return Wrapper(
        Kind.INTERPRETER,
        _words(values),
        modules=_words(modules),
        code=_words(code),
        shell=_words(lines),
    )


_MPI = _launcher(
    "-n -np -c -N -H --host -host -hosts -hostfile --hostfile -machinefile --machinefile -f -x"
    " --map-by -map-by --bind-to -bind-to --rank-by -rank-by -ppn -perhost -env -wdir --wdir -wd"
    " --prefix -prefix --tag-output-to -genvlist -envlist -iface -bootstrap -launcher -rr-by"
    " --report-bindings-to -npernode -npersocket --npernode --cpus-per-proc -cpus-per-proc -d"
    " --cpu-bind --ppn --depth -rmk -outfile-pattern -configfile --app -app -ntasks --am"
)
_SLURM = _launcher(
    "-n --ntasks -N --nodes -c --cpus-per-task -p --partition -A --account -t --time -w --nodelist"
    " -J --job-name -o --output -e --error -i --input -D --chdir -G --gpus -m --distribution"
    " -x --exclude -C --constraint -q --qos --mem --mem-per-cpu --gres --mpi --cpu-bind --gpu-bind"
    " --mem-bind --ntasks-per-node --gpus-per-task --gpus-per-node --jobid --het-group -r"
    " --relative -B --container-image --container-mounts --reservation --export --signal -d"
)
_CONTAINER = _launcher(
    "-B --bind --pwd -W --workdir -H --home --env --env-file -S --scratch --overlay --app"
    " --network --security --hostname --add-caps --drop-caps --apply-cgroups --mount --fusemount",
    skip=1,
    verbs="exec run",
)
_DOCKER = _launcher(
    "-v --volume -e --env --env-file --name -w --workdir -u --user -p --publish --gpus --shm-size"
    " --network --net --entrypoint --mount -m --memory --cpus -h --hostname --ulimit -l --label"
    " --ipc --pid --device --cap-add --security-opt --platform --restart --tmpfs --runtime"
    " --userns",
    skip=1,
    verbs="run exec",
)
_CONDA = _launcher("-n --name -p --prefix --cwd", verbs="run")
_SHELL = _interpreter("-o +o -O --rcfile --init-file", lines="-c")
_JAVA = _interpreter(
    "-cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports",
    modules="-jar -m --module",
)
_PYTHON = Wrapper(
    Kind.INTERPRETER,
    _words("-W -X -Q --check-hash-based-pycs"),
    modules=_words("-m"),
    code=_words("-c"),
    dotted=True,
)

WRAPPERS: Final[Mapping[str, Wrapper]] = {
    "env": _prefix("-u --unset -C --chdir", assignments=True),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n --class --classdata"),
    "time": _prefix("-f --format -o --output"),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "stdbuf": _prefix("-i -o -e --input --output --error"),
    "unbuffer": _prefix(),
    "exec": _prefix("-a"),
    "command": _prefix(),
    "builtin": _prefix(),
    "numactl": _prefix("-N -m -C -i -p"),
    "timeout": _prefix("-k --kill-after -s --signal", skip=1),
    "taskset": _prefix(skip=1),
    "chrt": _prefix(skip=1),
    "hwloc-bind": _prefix("--cpubind --membind --mempolicy"),
    "likwid-pin": _prefix("-c -d -s"),
    "likwid-perfctr": _prefix("-c -C -g -t -o -O"),
    "prlimit": _prefix("-p --pid -o"),
    "ulimit": _prefix(),
    "catchsegv": _prefix(),
    "sudo": _prefix("-u -g -h -p -C -U -r -t", assignments=True),
    "doas": _prefix("-u -C"),
    "runuser": _prefix("-u -g"),
    "chroot": _prefix(skip=1),
    "flock": _prefix("-w -E", skip=1),
    "setarch": _prefix(skip=1),
    "linux64": _prefix(),
    "xvfb-run": _prefix("-e -f -n -p -s -w --server-args --server-num"),
    "vglrun": _prefix("-d"),
    "dbus-run-session": _prefix(),
    "systemd-inhibit": _prefix("--what --who --why --mode"),
    "xargs": _prefix("-a -d -E -I -L -n -P -s --max-args --max-procs --replace --delimiter"),
    "parallel": _prefix(
        "-j --jobs -a --arg-file -S --sshlogin --joblog --results --workdir --tmpdir"
    ),
    "watch": _prefix("-n --interval"),
    "tini": _prefix("-e -p"),
    "dumb-init": _prefix(),
    "catatonit": _prefix(),
    "mpirun": _MPI,
    "mpiexec": _MPI,
    "mpiexec.hydra": _MPI,
    "mpirun_rsh": _MPI,
    "orterun": _MPI,
    "prterun": _MPI,
    "prun": _MPI,
    "aprun": _MPI,
    "ibrun": _MPI,
    "jsrun": _launcher(
        "-n -r -a -c -g -b -d -l -p -E --nrs --tasks_per_rs --cpu_per_rs --gpu_per_rs"
    ),
    "srun": _SLURM,
    "salloc": _SLURM,
    "apptainer": _CONTAINER,
    "singularity": _CONTAINER,
    "docker": _DOCKER,
    "podman": _DOCKER,
    "nerdctl": _DOCKER,
    "shifter": _launcher("--image -i --module -m --volume -V --env -e --workdir -w"),
    "charliecloud": _launcher(skip=1),
    "ch-run": _launcher("-b --bind -c --cd -g -u --set-env --unset-env --join-ct", skip=1),
    "enroot": _launcher("-m --mount -e --env", skip=1, verbs="start exec"),
    "udocker": _launcher("-v --volume -e --env -w --workdir", skip=1, verbs="run"),
    "conda": _CONDA,
    "mamba": _CONDA,
    "micromamba": _CONDA,
    "pixi": _launcher("-e --environment --manifest-path", verbs="run"),
    "poetry": _launcher("-C --directory", verbs="run"),
    "pipenv": _launcher(verbs="run"),
    "uv": _launcher("--with --python -p --project --extra --directory", verbs="run"),
    "bash": _SHELL,
    "sh": _SHELL,
    "dash": _SHELL,
    "ash": _SHELL,
    "zsh": _SHELL,
    "ksh": _SHELL,
    "mksh": _SHELL,
    "csh": _SHELL,
    "tcsh": _SHELL,
    "fish": _SHELL,
    "su": _interpreter("-s --shell -g --group", lines="-c --command"),
    "java": _JAVA,
    "Rscript": _interpreter(code="-e"),
    "R": _interpreter("-f -d -g --gui", code="-e"),
    "littler": _interpreter(code="-e"),
    "perl": _interpreter("-I", code="-e -E -ne -pe -nE -lane -lne -ple -pie"),
    "ruby": _interpreter("-I -r -C", code="-e"),
    "node": _interpreter("-r --require --import", code="-e --eval -p --print"),
    "nodejs": _interpreter("-r --require", code="-e --eval -p"),
    "deno": _interpreter(),
    "bun": _interpreter(),
    "php": _interpreter("-c -d", code="-r"),
    "lua": _interpreter("-l", code="-e"),
    "luajit": _interpreter("-l", code="-e"),
    "tclsh": _interpreter(),
    "wish": _interpreter(),
    "guile": _interpreter("-L -C", code="-c"),
    "julia": _interpreter("-J -C -t -p -L --sysimage --machine-file", code="-e -E --eval --print"),
    "octave": _interpreter("-p --path", code="--eval"),
    "octave-cli": _interpreter("-p --path", code="--eval"),
    "mono": _interpreter(),
    "dotnet": _interpreter(),
    "wine": _interpreter(),
    "wine64": _interpreter(),
    "pypy": _PYTHON,
    "pypy3": _PYTHON,
}

_NUMBERED: Final[tuple[tuple[re.Pattern[str], Wrapper], ...]] = (
    (re.compile(r"python(?:w|-dbg|[23](?:\.\d+)?t?(?:-dbg|-intel64)?)?"), _PYTHON),
    (re.compile(r"(?:perl|lua|tclsh|wish|php|ruby|guile)-?\d[\d.]*"), WRAPPERS["perl"]),
)


def wrapper(name: str) -> Wrapper | None:
    """
    How the command NAME runs others; None for an ordinary command.
    """
    known = WRAPPERS.get(name)
    if known is None and name[-1:].isalnum():
        for pattern, found in _NUMBERED:
            if pattern.fullmatch(name):
                return found
    return known
