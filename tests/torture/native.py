"""The native core under the address and undefined behaviour sanitizers, on changed inputs."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from tests.torture.trials import Tally
from tests.workflows.worlds import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

PROGRAM = ROOT / "build" / "sanitize" / "fuzz"  # built by `make torture`
SECONDS = 20


def try_once(chance: Random, folder: Path, shared: Path) -> Tally:
    """Run the fuzzer of the native core for a while."""
    del shared
    seed = chance.randrange(1 << 31)
    done = subprocess.run(
        [PROGRAM, "--seed", str(seed), "--seconds", str(SECONDS)],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    tally = Tally()
    found = re.search(r"cases (\d+), failures (\d+)", done.stdout)
    tally.check(
        found and done.returncode == 0, f"seed {seed}: {(done.stdout + done.stderr)[-600:]}"
    )
    if found:
        tally.counts["inputs"] += int(found[1])
        tally.check(found[2] == "0", f"seed {seed}: {found[2]} failures")
    return tally
