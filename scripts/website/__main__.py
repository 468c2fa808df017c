"""Build the site in a folder; run with `make site`.

The folder gets `pages` (assembled from docs/ and from the code), `mkdocs.yml` and `html`, the site.
Open `html/index.html`, or copy `html` to any web server. With the address of the site in `SITE_URL`
there are also canonical addresses and a page for addresses that do not exist (404.html), which must
know where the site is. A warning of the generator, a page that is not in the navigation or a broken
link ends with exit code 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts.website.links import find_broken_links
from scripts.website.pages import assemble


def build(folder: Path) -> list[str]:
    """Build the site in the folder; return what is wrong with it."""
    problems = assemble(folder)
    if problems:
        return problems
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    if done.returncode or "No issues found" not in said:
        return [said.strip()]
    if not os.environ.get("SITE_URL"):
        (folder / "html" / "404.html").unlink()
    return find_broken_links(folder / "html")


def main() -> int:
    """Build the site in the folder of the first argument and print where it is."""
    folder = Path(sys.argv[1]).resolve()
    problems = build(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"site: {folder / 'html' / 'index.html'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
