#!/bin/sh
# Sees to it that there is a Chromium, in which tests look at the HTML report. Where none is and none
# may be installed, it says so and succeeds: those tests are skipped then, and say why.
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
  echo "no Chromium here, and none can be installed: tests that need one are skipped." >&2
fi
