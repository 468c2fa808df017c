"""A release: its tag, version and changelog agree, and the wheels that are built are tried."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points, metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import berryeval

ROOT = Path(__file__).parents[1]
CHANGES = """\
# Changelog

## [Unreleased]

- Later.

## [1.2.0] - 2026-11-18

### Added
- A thing.

## [1.1.0] - 2026-10-01

- Older.
"""

pytestmark = pytest.mark.skipif(
    not (ROOT / "scripts").exists(), reason="needs the source tree, not an installation"
)


def check(root: Path, tag: str, changes: str, version: str = "1.2.0") -> tuple[int, str]:
    """Return the exit code and the output of the check."""
    package = root / "src" / "berryeval"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(f'__version__ = "{version}"\n', encoding="utf-8")
    (root / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "check_release.py"), tag, "--root", str(root)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_notes_of_a_release_are_its_section(tmp_path: Path) -> None:
    assert check(tmp_path, "v1.2.0", CHANGES) == (0, "### Added\n- A thing.\n")
    assert check(tmp_path, "v1.1.0", CHANGES, "1.1.0") == (0, "- Older.\n")


@pytest.mark.parametrize(
    ("tag", "changes", "message"),
    [
        ("v1.3.0", CHANGES, "found the tag v1.3.0, expected v1.2.0"),
        ("1.2.0", CHANGES, "found the tag 1.2.0, expected v1.2.0"),
        ("v1.2.0", "## [Unreleased]\n- x\n", "found sections Unreleased, expected one for 1.2.0"),
        ("v1.2.0", "# Changelog\n", "found sections none"),
        ("v1.2.0", "## [1.2.0]\n- x\n", "expected a date"),
        ("v1.2.0", "## [1.2.0] - 2026-01-01\n\n## [1.1.0] - 2025-01-01\n- x\n", "is empty"),
    ],
)
def test_a_tag_that_disagrees_is_refused(
    tag: str, changes: str, message: str, tmp_path: Path
) -> None:
    code, output = check(tmp_path, tag, changes)
    assert code == 1
    assert message in output
    assert output.count("\n") == 1


def test_the_changelog_can_be_released() -> None:
    """Each section is *Unreleased* or a version with its date, and the newest is ours."""
    heads = [
        line
        for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    ]
    assert heads[0] == "## [Unreleased]"
    assert all(line.startswith(f"## [{berryeval.__version__}] - ") for line in heads[1:2])


def test_nothing_is_published_before_everything_is_built_and_checked() -> None:
    """Publishing needs all other jobs and a tag, and it alone may sign and write."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    jobs = flow["jobs"]
    assert set(jobs["publish"]["needs"]) == set(jobs) - {"publish"}
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    assert flow["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert "secrets." not in text


def test_the_install_page_lists_every_requirement_and_extra() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").lower()
    about = metadata("berryeval")
    base = [
        Requirement(line).name
        for line in about.get_all("Requires-Dist") or []
        if "extra ==" not in line
    ]
    assert len(base) > 5
    sizes = page.partition("## what weighs what")[2]
    assert [name for name in base if name.lower() not in sizes] == []
    extras = about.get_all("Provides-Extra") or []
    assert [name for name in extras if f"`{name}`" not in page] == []


def test_the_install_page_calls_the_command_by_its_name() -> None:
    """The tools uvx and pipx run the command of the same name as the package."""
    (command,) = (one for one in entry_points(group="console_scripts") if one.name == "berryeval")
    assert command.value == "berryeval.cli.app:main"
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"dist/berryeval-{berryeval.__version__}-py3-none-any.whl berryeval version`" in page
