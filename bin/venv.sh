# Sourced by bin/up, bin/test and bin/bench: find a Python, keep .venv installed.
# shellcheck shell=sh

say() {
    echo "leadline: $*" >&2
}

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    say "needs Python 3.11 or newer; found $(python3 --version 2>&1 || echo none)." \
        "Install one and name it: PYTHON=/path/to/python3.11 $0"
    return 1
}

# venv_install EXTRA: make .venv when missing, install leadline[EXTRA] when setup.cfg has changed.
venv_install() {
    if [ ! -x .venv/bin/python ]; then
        python=$(find_python) || exit 1
        if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            say "Python's venv module is missing. On Debian and Ubuntu: apt install python3-venv"
            exit 1
        fi
        "$python" -m venv .venv || { say "cannot make .venv in $(pwd)"; exit 1; }
    fi
    PATH="$(pwd)/.venv/bin:$PATH"
    export PATH
    stamp=".venv/installed-$1"
    wanted=$(cat setup.cfg pyproject.toml | cksum)
    if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
        say "installing leadline[$1] into .venv …"
        python -m pip install --quiet --disable-pip-version-check --editable ".[$1]" || {
            say "pip could not install leadline[$1]; its message is above"
            exit 1
        }
        echo "$wanted" >"$stamp"
    fi
}
