#!/bin/sh
# Install Chromium for the browser tests of the HTML report. If it cannot be installed, say so and
# succeed: those tests are then skipped with a reason.
set -eu
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
"$(dirname "$0")/debian.sh" chromium fonts-dejavu-core ||
  echo "Chromium is missing and cannot be installed: browser tests will be skipped." >&2
