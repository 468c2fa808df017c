"""Files that another process changes while they are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

QUERIES, DEPTH = 400, 100

# Scores the file again and again, and prints the means that it found.
SCORE = """
import json, sys, time
import berryeval as be
from berryeval.errors import DataError

qrels, run, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
end = time.monotonic() + seconds
means = set()
while time.monotonic() < end:
    try:
        means.add(be.evaluate(qrels, run, ["AP"]).mean["AP"])
    except DataError:
        pass
print(json.dumps(sorted(means)))
"""


def write_files(folder: Path) -> tuple[Path, bytes]:
    """Write judgments; return their file and the text of a run."""
    lines = [
        f"q{query} Q0 d{rank} {rank} {DEPTH - rank}.25 tag\n"
        for query in range(QUERIES)
        for rank in range(1, DEPTH + 1)
    ]
    (folder / "qrels").write_text("".join(f"q{query} 0 d2 1\n" for query in range(QUERIES)))
    return folder / "qrels", "".join(lines).encode()


@pytest.mark.parametrize("left", [0.0, 0.4, 1.0])
def test_file_that_is_cut_and_grows_while_it_is_scored_never_ends_the_process(
    tmp_path: Path, left: float
) -> None:
    """Every answer is an error, or the numbers of a beginning of the file."""
    qrels, text = write_files(tmp_path)
    run = tmp_path / "run"
    run.write_bytes(text)
    child = subprocess.Popen(
        [sys.executable, "-c", SCORE, str(qrels), str(run), "2"], stdout=subprocess.PIPE
    )
    with run.open("r+b") as file:
        while child.poll() is None:
            file.truncate(int(left * len(text)))
            os.pwrite(file.fileno(), text, 0)
            os.pwrite(file.fileno(), text, len(text))  # repeats every document
    found = child.communicate()[0].decode()
    assert child.returncode == 0, f"ended by signal {-child.returncode}"
    means = json.loads(found)
    complete = {0.5 * queries / QUERIES for queries in range(QUERIES + 1)}
    assert {round(mean, 9) for mean in means} <= {round(mean, 9) for mean in complete}
