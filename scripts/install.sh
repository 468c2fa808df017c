#!/bin/sh
# Install the dependency groups that follow $1 into the virtual environment $1. uv needs a third of
# the time of pip. Where only the settings of pip lead to the packages, pip installs them.
set -eu
bin=$1/bin
shift
groups=$(printf ' --group %s' "$@")
[ -z "${PIP_FIND_LINKS:-}" ] || export UV_FIND_LINKS="${UV_FIND_LINKS:-$PIP_FIND_LINKS}"
[ -x "$bin/uv" ] || "$bin/python" -m pip install --quiet --only-binary :all: uv || true
# shellcheck disable=SC2086 - several groups, several words
"$bin/uv" pip install --quiet --python "$bin/python" $groups ||
  "$bin/python" -m pip install --quiet $groups
