#!/bin/sh
# Install the Debian packages $@ with the rights there are, or fail. A server that stops answering
# is asked again: apt itself may wait for it forever.
set -eu
if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
command -v apt-get >/dev/null && $sudo true 2>/dev/null

try() { # seconds, command
  limit=$1
  shift
  for _ in 1 2 3; do
    status=0
    # shellcheck disable=SC2086 - empty, or two words
    $sudo timeout --kill-after=10 "$limit" env DEBIAN_FRONTEND=noninteractive apt-get -qq \
      -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60 -o Dpkg::Use-Pty=0 "$@" >/dev/null || status=$?
    [ "$status" = 124 ] || [ "$status" = 137 ] || return "$status"
    echo "apt-get $1 took more than $limit seconds; trying again" >&2
  done
  return "$status"
}

echo "installing $*"
try 60 update
try 600 install -y --no-install-recommends "$@"
