"""Assembly of the pages: those of docs/, those generated from the code, and files they link to."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from scripts.website.examples import ENRICHED
from scripts.website.markdown import code
from scripts.website.reference import PAGES

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
# Pages of the repository that the site has too; instead of the README it has a landing page.
MOVED: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
}
FILES: Final = "repository.md"
LANGUAGES: Final = {".py": "python", ".yml": "yaml", ".yaml": "yaml", ".sh": "sh", ".json": "json"}
_LINK: Final = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def assemble(folder: Path) -> list[str]:
    """Write all pages and the configuration; return what is wrong with them."""
    pages = folder / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("site"))
    shutil.copytree(DOCS / "site", pages / "assets", ignore=shutil.ignore_patterns("*.yml"))
    shutil.copy(DOCS / "site" / "mkdocs.yml", folder)
    for source, name in MOVED.items():
        if not (pages / name).exists():
            shutil.copy(ROOT / source, pages / name)
    for name, render in PAGES.items():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(render(), encoding="utf-8")
    for name, enrich in ENRICHED.items():
        text = (pages / name).read_text(encoding="utf-8")
        (pages / name).write_text(enrich(text), encoding="utf-8")
    return [*move_repository_links(pages), *check_navigation(folder)]


def move_repository_links(pages: Path) -> Iterator[str]:
    """Let links to other files of the repository lead to a page that shows them."""
    shown: dict[str, Path] = {}
    missing: list[str] = []
    homes = {name: ROOT / source for source, name in MOVED.items() if source != "README.md"}
    for page in sorted(pages.rglob("*.md")):
        own = page.relative_to(pages)
        home = homes.get(own.as_posix(), DOCS / own).parent

        def move(link: re.Match[str], own: Path = own, home: Path = home) -> str:
            path, fragment = (home / link[1]).resolve(), link[2] or ""
            if ":" in link[1]:
                return link[0]
            up = "../" * len(own.parts[1:])
            if path.is_relative_to(DOCS):
                return f"{up}{path.relative_to(DOCS).as_posix()}{fragment}"
            if not path.is_relative_to(ROOT) or not path.exists():
                missing.append(f"{own.as_posix()}: there is no file {link[1]}")
                return link[0]
            name = path.relative_to(ROOT).as_posix()
            if name in MOVED:
                return f"{up}{MOVED[name]}{fragment}"
            shown[name] = path
            return f"{up}{FILES}#{anchor_of(name)}"

        text = page.read_text(encoding="utf-8")
        page.write_text(replace_outside_code(text, move), encoding="utf-8")
    (pages / FILES).write_text(_show_files(shown), encoding="utf-8")
    yield from missing


def replace_outside_code(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    """Replace links, except in blocks of code."""
    parts = _FENCE.split(text)
    return "".join(one if one.startswith("```") else _LINK.sub(replace, one) for one in parts)


def anchor_of(name: str) -> str:
    """Return the anchor of a file on the page of files."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _show_files(shown: dict[str, Path]) -> str:
    text = "# Files of the repository\n\nFiles that other pages link to.\n"
    for name, path in sorted(shown.items()):
        text += f"\n## {name} {{#{anchor_of(name)}}}\n"
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for one in inside:
            if one.is_file() and "__pycache__" not in one.parts:
                title = "" if one == path else f"\n`{one.relative_to(ROOT).as_posix()}`:\n"
                text += f"{title}\n{_show_file(one)}"
    return text


def _show_file(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return f"````{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n````\n"
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n".join(
        code(source, "python")
        if kind == "code"
        else re.sub(r"(?m)^#+ (.+)", r"**\1**", source) + "\n"
        for kind, source in cells
    )


def check_navigation(folder: Path) -> Iterator[str]:
    """Find pages that the navigation lacks, and entries without a page."""
    pages = folder / "pages"
    config = (folder / "mkdocs.yml").read_text(encoding="utf-8")
    listed = list(_walk(yaml.safe_load(config[config.index("\nnav:") :])["nav"]))
    written = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    for name in sorted(written - {*listed, FILES}):
        yield f"{name} is not in the navigation: add it to nav in docs/site/mkdocs.yml"
    for name in sorted(set(listed) - written):
        yield f"docs/site/mkdocs.yml: nav names {name}, which does not exist"


def _walk(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from _walk(inner)
