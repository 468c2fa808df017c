"""Code that the plan of a resumed folder names runs only if the user's own project has it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.eval_world import berryeval, write_drinks

pytestmark = pytest.mark.usefixtures("drinks_folder")
CODE = "from pathlib import Path\nPath({!r}).touch()\ndef search(text, k):\n    return ['water']\n"


def config_of(name: str) -> str:
    """Return a configuration that searches with a function."""
    return (
        "benchmarks: [drinks]\n"
        f"providers: [{{name: mine, type: callable, options: {{function: '{name}'}}}}]\n"
    )


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a run of the function of another project, and change to a project that has the run."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("foreign_code", "pack", "pack.inner_code"):
        sys.modules.pop(name, None)  # of another test
    (outside / "foreign_code.py").write_text(CODE.format(str(tmp_path / "imported")))
    monkeypatch.syspath_prepend(str(outside))
    Path("berryeval.yaml").write_text(config_of("foreign_code:search"))
    assert berryeval("eval", "--output", "run", "--quiet") in {0, 3}
    sys.modules.pop("foreign_code")
    (tmp_path / "imported").unlink()
    own = tmp_path / "own"
    own.mkdir()
    write_drinks(own)
    shutil.move("run", own / "run")
    monkeypatch.chdir(own)
    return tmp_path / "imported"


def test_code_of_another_project_needs_trust(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("eval", "--resume", "run") == 2
    assert capsys.readouterr().err == (
        "error: run: its plan runs 'foreign_code:search', which is neither below the current "
        "folder nor in a configuration of yours; if you trust the code, add --trust\n"
    )
    assert not elsewhere.exists()
    assert berryeval("eval", "--resume", "run", "--trust", "--quiet") in {0, 3}
    assert elsewhere.exists()


def test_code_that_the_configuration_names_is_trusted(elsewhere: Path) -> None:
    Path("berryeval.yaml").write_text(config_of("foreign_code:search"))
    assert berryeval("eval", "--resume", "run", "--quiet") in {0, 3}
    assert elsewhere.exists()


def test_code_below_the_current_folder_is_trusted(elsewhere: Path) -> None:
    Path("pack").mkdir()
    Path("pack/inner_code.py").write_text(CODE.format(str(elsewhere)))
    _rename_in("run", "pack.inner_code:search")
    assert berryeval("eval", "--resume", "run", "--quiet") in {0, 3}
    assert elsewhere.exists()


@pytest.mark.parametrize(
    "options",
    [
        {"function": "run.brought:search"},
        {"function": "${NOT_SET:-foreign_code:search}"},
        {
            "providers": [
                "bm25",
                {"type": "callable", "options": {"function": "run.brought:search"}},
            ]
        },
        {"providers": ["callable"], "options": {"callable": {"function": "foreign_code:search"}}},
    ],
)
def test_a_folder_cannot_bring_its_own_code(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any]
) -> None:
    Path("run/brought.py").write_text(CODE.format(str(elsewhere)))
    _edit_provider("run", {"type": "hybrid" if "providers" in options else "callable"}, options)
    assert berryeval("eval", "--resume", "run") == 2
    assert "; if you trust the code, add --trust" in capsys.readouterr().err
    assert not elsewhere.exists()


def test_trust_is_about_resumed_folders(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("eval", "drinks", "--providers", "bm25", "--trust") == 2
    assert "--trust needs --resume FOLDER" in capsys.readouterr().err


def _rename_in(folder: str, function: str) -> None:
    _edit_provider(folder, {}, {"function": function})
    shutil.rmtree(f"{folder}/drinks")


def _edit_provider(folder: str, changes: dict[str, Any], options: dict[str, Any]) -> None:
    file = Path(folder, "manifest.json")
    manifest = json.loads(file.read_text())
    manifest["plan"]["providers"][0] |= {**changes, "options": options}
    file.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cProfile:run", "'cProfile' is a module of Python itself, which searches nothing"),
        ("builtins:eval", "'builtins' is a module of Python itself, which searches nothing"),
        ("reexport:run", "run is a function of Python's module 'cProfile', which searches nothing"),
        ("reexport:show", "print is a function of Python's module 'builtins', which searches not"),
        ("reexport:find", "find is a function of Python's module 'builtins', which searches not"),
        ("reexport:only_text", "expected a function (text, k), found only_text(text)"),
    ],
)
def test_a_function_that_is_no_search_is_refused_before_it_is_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    monkeypatch.delitem(sys.modules, "reexport", raising=False)
    Path("reexport.py").write_text(
        "from cProfile import run\nshow = print\nfind = 'text'.find\ndef only_text(text): ...\n"
    )
    Path("berryeval.yaml").write_text(config_of(name))
    assert berryeval("eval", "--output", "run") == 2
    assert said in capsys.readouterr().err
    assert not Path("run").exists()


def test_a_module_that_exits_when_imported_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "leaving", raising=False)
    Path("leaving.py").write_text("import sys\nsys.exit(5)\n")
    Path("berryeval.yaml").write_text(config_of("leaving:search"))
    assert berryeval("eval", "--output", "run") == 2
    assert "the module 'leaving' cannot be imported (SystemExit: 5)" in capsys.readouterr().err
