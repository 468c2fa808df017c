"""Several judges at once, the server killed meanwhile: nothing is lost, nothing counted twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "load_judging.py"


def test_no_grade_is_lost_or_doubled_when_the_server_is_killed() -> None:
    options = ["--judges", "8", "--votes", "25", "--kills", "1", "--stores", "sqlite"]
    done = subprocess.run(
        [sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["stored"], found["lost"], found["doubled"]) == (200, 0, 0)
    assert found["sent again"] > 0
