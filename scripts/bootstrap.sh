#!/bin/sh
# Create the virtual environment $1 with the interpreter $2. Install a C++ compiler, the Python
# headers and venv support if they are missing and may be installed; otherwise say what to do.
set -eu
venv=$1
python=$2

missing=""
command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || missing="$missing g++"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$headers/Python.h" ] || missing="$missing python3-dev"
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"

if [ -n "$missing" ]; then
  # shellcheck disable=SC2086 - several packages, several words
  "$(dirname "$0")/debian.sh" $missing ||
    echo "missing:$missing. Continuing in pure Python. For the native core (and make test)" \
      "install them, then run make clean and start again." >&2
fi

if "$python" -c 'import ensurepip' 2>/dev/null; then
  "$python" -m venv "$venv"
else
  # Without ensurepip: install virtualenv into a temporary folder.
  tool=$(mktemp -d)
  trap 'rm -rf "$tool"' EXIT
  "$python" -m pip install --quiet --target "$tool" virtualenv
  PYTHONPATH=$tool "$python" -m virtualenv --quiet "$venv"
fi
"$venv/bin/python" -m pip install --quiet --upgrade pip
