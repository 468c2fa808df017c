#!/bin/sh
# Install Java for the Spark tests and benchmarks. If it cannot be installed, say so and succeed:
# those tests are then skipped with a reason.
set -eu
if command -v java >/dev/null || [ -n "${JAVA_HOME:-}" ]; then exit 0; fi
install=$(dirname "$0")/debian.sh
"$install" openjdk-17-jre-headless || "$install" default-jre-headless ||
  echo "Java is missing and cannot be installed: Spark tests will be skipped." >&2
