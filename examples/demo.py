"""Compare four providers on a bundled benchmark; a PostgreSQL is started for one of them.

`make demo` runs this file. It does what the command line does:

    berryeval eval --benchmarks technical-docs --providers bm25 dense hybrid postgres
"""

from __future__ import annotations

import sys
from pathlib import Path

from berryeval.cli.app import EXIT_RUN_FAILED, build_app, run
from berryeval.workflows.run_folder import RUNS

PROVIDERS = ["bm25", "dense", "hybrid", "postgres"]

NEXT = """
Open the report in a browser: {folder}/report.html
the table for a pull request:
  {berryeval} report {folder} --format markdown

Next, which provider is better, by how much, and is it significant:
  {berryeval} compare {folder}
the worst queries, with their hits and missed targets:
  {berryeval} eval --resume {folder} --where-it-fails
the same by category of the queries:
  {berryeval} eval --resume {folder} --by category
three chunkers:
  {berryeval} eval --benchmarks technical-docs --providers bm25 bm25:fixed-400 bm25:sentence
the same on your own documents:
  {berryeval} init docs
all runs in the browser:
  {berryeval} serve
"""


def our_command() -> str:
    """Return the path of the command: in a clone its environment is not on the PATH."""
    path = Path(sys.executable).with_name("berryeval")
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else "berryeval"


def runs() -> set[Path]:
    """Return the folders of all runs so far."""
    return set(RUNS.iterdir()) if RUNS.is_dir() else set()


def main(arguments: list[str]) -> int:
    """Run the comparison; without PostgreSQL the other providers still count."""
    before = runs()
    command = ["eval", "--benchmarks", "technical-docs", "--providers", *PROVIDERS]
    code = run(build_app(), [*command, *arguments])
    folder = max(runs() - before, default=None)  # the new folder
    if folder is None:
        return code
    if code == EXIT_RUN_FAILED and (folder / "technical-docs" / "hybrid" / "scores.json").exists():
        print("\nPostgreSQL could not be started (see above); the other results are valid.")
        code = 0
    print(NEXT.format(berryeval=our_command(), folder=folder).rstrip())
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
