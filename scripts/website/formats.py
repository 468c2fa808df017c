"""Pages of loaders and exporters, each with a sample that is read or written when they are made."""

from __future__ import annotations

import inspect
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import berryeval as be
from berryeval.benchmarks import LOADERS
from berryeval.benchmarks.loading import options_of
from berryeval.reports.exports import EXPORTERS
from scripts.website.markdown import code, cut, table
from tests.benchmarks.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.workflows import BenchmarkResult
    from tests.benchmarks.samples import Sample

LONGEST: Final = 14  # lines of a file
NAMED: Final = {"ir_datasets": "ir_datasets:beir/scifact/test", "hf": "mteb:scifact"}

LOADERS_PAGE: Final = """\
# Loaders

A loader reads a benchmark in one format. The format is recognized by its files; `format=` (or
`--format`) names it if several fit. [Benchmark formats](../formats.md) explains how files become
records. The samples below were loaded when this page was built.

"""
EXPORTERS_PAGE: Final = """\
# Exporters

An exporter writes a report of runs in one format: `berryeval report RUN --format NAME`,
`eval --export NAME`, or `be.write_report`. [Reports](../reports.md) describes what each file has.
The files below were written when this page was built, from:

```python
import berryeval as be

result = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5", "RR"])
```
"""


def render_loaders() -> str:
    """Return the page of all loaders."""
    rows = [(f"[`{name}`](#{name})", LOADERS.get(name).summary) for name in LOADERS]
    parts = [LOADERS_PAGE, table(("format", "description"), rows)]
    for name in LOADERS:
        loader = LOADERS.get(name)
        parts.append(f"\n## {name}\n\n{loader.summary}.\n\nRecognized by: {loader.signs}.\n\n")
        options = ", ".join(f"`{option}`" for option in options_of(loader))
        about = inspect.cleandoc(loader.load.__doc__ or "")
        parts.append(f"Options: {options}. {about}\n\n" if options else "")
        samples = [sample for loader_name, sample in SAMPLES.values() if loader_name == name]
        parts.extend(_render_sample(samples[0]) if samples else _render_named(name))
    return "".join(parts)


def _render_sample(sample: Sample) -> Iterator[str]:
    shown = []
    for name, content in sample.files.items():
        if b"\0" not in content:  # a text
            shown.append(f"==> {name} <==\n{cut(content.decode(errors='replace'), LONGEST)}")
        else:
            shown.append(f"==> {name} <==\n({len(content)} bytes)")
    yield code("\n\n".join(shown))
    with tempfile.TemporaryDirectory() as folder:
        path = sample.write(Path(folder, "drinks"))
        written = "".join(f", {key}={value!r}" for key, value in sample.options.items())
        found = be.load_benchmark(path, **sample.options)
        name = path.relative_to(folder).as_posix()
    call = f">>> be.load_benchmark({name!r}{written})"
    yield "\n" + code(f"{call}\n{found!r}", "pycon")


def _render_named(name: str) -> Iterator[str]:
    yield code(f"berryeval eval {NAMED[name]} --providers bm25", "sh")


def render_exporters() -> str:
    """Return the page of all exporters."""
    parts = [EXPORTERS_PAGE]
    for name in EXPORTERS:
        exporter = EXPORTERS.get(name)
        also = ", ".join(f"`{one}`" for one in EXPORTERS.aliases_of(name))
        rows = [
            ("also called", also),
            ("endings", ", ".join(f"`{one}`" for one in exporter.endings)),
            ("goes to", exporter.home),
            ("needs", ", ".join(f"`berryeval[{one}]`" for one in exporter.modules.values())),
        ]
        facts = table(("", ""), [row for row in rows if row[1]])
        parts.append(f"\n## {name}\n\nWrites {exporter.summary}.\n\n{facts}\n")
        parts.extend(_render_files(name))
    return "".join(parts)


@cache
def _measure() -> BenchmarkResult:
    return be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5", "RR"])


def _render_files(name: str) -> Iterator[str]:
    exporter = EXPORTERS.get(name)
    if exporter.track is not None:
        yield code(f"berryeval report latest --format {name}", "sh")
        return
    if name == "html":
        yield "![The HTML report](../images/report-light.png)\n"
        return
    with tempfile.TemporaryDirectory() as folder:
        ending = exporter.endings[0] if exporter.endings else ".md"
        written = be.write_report(_measure(), Path(folder) / f"quality{ending}", format=name)
        texts = {path.name: path.read_text(encoding="utf-8") for path in written}
    names = ", ".join(f"`{one}`" for one in texts)
    yield f'`be.write_report(result, "quality{ending}", format={name!r})` writes {names}:\n\n'
    first = cut(next(iter(texts.values())), LONGEST)
    yield code("\n".join(line[:160] for line in first.splitlines()))
