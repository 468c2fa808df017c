#!/bin/sh
# Install Java for the Spark tests and benchmarks. If it cannot be installed, say so and succeed:
# those tests are then skipped with a reason.
set -eu
if command -v java >/dev/null || [ -n "${JAVA_HOME:-}" ]; then exit 0; fi

if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
echo "installing java"
if command -v apt-get >/dev/null && $sudo true 2>/dev/null && $sudo apt-get update -qq &&
  { $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 openjdk-17-jre-headless >/dev/null ||
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
      -o Dpkg::Use-Pty=0 default-jre-headless >/dev/null; }
then
  :
else
  echo "Java is missing and cannot be installed: Spark tests will be skipped." >&2
fi
