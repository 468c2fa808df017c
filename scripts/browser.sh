#!/bin/sh
# Install Chromium for the browser tests of the HTML report. If it cannot be installed, say so and
# succeed: those tests are then skipped with a reason.
set -eu
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done

if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
echo "installing chromium"
if command -v apt-get >/dev/null && $sudo true 2>/dev/null && $sudo apt-get update -qq &&
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 chromium fonts-dejavu-core >/dev/null
then
  :
else
  echo "Chromium is missing and cannot be installed: browser tests will be skipped." >&2
fi
