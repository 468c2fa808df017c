"""Run code in a process of its own and measure its memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MOST_MB = 500
_MEASURE = """
import sys
from berryeval.errors import BerryEvalError
def main():
{body}
try:
    main()
except BerryEvalError as error:
    print(f"{{type(error).__name__}}: {{error}}")
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def run_bounded(body: str, *args: str) -> str:
    """Run the body of a function; return what it printed, with the error that it raised.

    The peak of its memory must stay below the limit.
    """
    code = _MEASURE.format(body="\n".join(f"    {line}" for line in body.strip().splitlines()))
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True, text=True, timeout=300, check=False, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *printed, peak = done.stdout.splitlines()
    assert int(peak) <= MOST_MB * 1024, f"{int(peak) // 1024} MB"
    return "\n".join(printed)
