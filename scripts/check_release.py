"""Refuse a release whose tag, version and changelog disagree, and print its notes.

    python scripts/check_release.py v1.2.0 > notes.md

The tag must be the version of the package with a v before it, and CHANGELOG.md must have a section
for the version with its date.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

VERSION: Final = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
SECTION: Final = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


def read_version(root: Path) -> str:
    """Read the version from the package."""
    init = root / "src" / "berryeval" / "__init__.py"
    found = VERSION.search(init.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{init}: expected a line __version__ = ...")
    return found[1]


def read_notes(root: Path, version: str) -> str:
    """Read the section of the changelog about a version."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = list(SECTION.finditer(text))
    names = [head[1] for head in heads]
    if version not in names:
        raise SystemExit(
            f"CHANGELOG.md: found sections {', '.join(names) or 'none'}, expected one for "
            f"{version}; move what is under [Unreleased] to ## [{version}] - YYYY-MM-DD"
        )
    place = names.index(version)
    head = heads[place]
    if head[2] is None:
        raise SystemExit(f"CHANGELOG.md: expected a date in ## [{version}] - YYYY-MM-DD")
    end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
    notes = text[head.end() : end].strip()
    if not notes:
        raise SystemExit(f"CHANGELOG.md: the section [{version}] is empty; write what changed")
    return notes


def check_release(root: Path, tag: str) -> str:
    """Return the notes of a release, or exit with what is wrong."""
    version = read_version(root)
    if tag != f"v{version}":
        raise SystemExit(
            f"found the tag {tag}, expected v{version}, the version in "
            "src/berryeval/__init__.py; change the one that is wrong"
        )
    return read_notes(root, version)


def main() -> None:
    """Check the release that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tag", help="Tag of the release, such as v1.2.0.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    given = parser.parse_args()
    sys.stdout.write(f"{check_release(given.root, given.tag)}\n")


if __name__ == "__main__":
    main()
