"""`Qrels` and `Run` under the names of ranx."""

from __future__ import annotations

import copy
import gzip
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from berryeval.compat import ranx
from berryeval.compat.ranx.ranx_files import get_file_kind
from berryeval.errors import BerryEvalError, DataError
from tests.ranx_oracle import load_ranx

GRADES = {"q2": {"d1": 1, "d2": 2}, "q1": {"d1": 1, "d2": 2, "d3": 0}}
SCORES = {"q2": {"d1": 0.1, "d2": 0.2}, "q1": {"d1": 0.1, "d2": 1 / 3, "d3": 0.3}}
SORTED = {"q1": {"d2": 1 / 3, "d3": 0.3, "d1": 0.1}, "q2": {"d2": 0.2, "d1": 0.1}}


def listed(rows: Any) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return rows with their order."""
    return [(query, list(row.items())) for query, row in rows.items()]


def test_rows_are_shown_sorted() -> None:
    run = ranx.Run(SCORES, name="bm25")
    assert listed(run.run) == listed(run.to_dict()) == listed(SORTED)
    assert (run.name, run.size, len(run), run.sorted) == ("bm25", 2, 2, True)
    assert list(run.keys()) == run.get_query_ids() == ["q1", "q2"]
    assert run["q2"] == {"d2": 0.2, "d1": 0.1}
    assert run.get_doc_ids_and_scores() == list(SORTED.values())
    assert (repr(run), str(run)) == (repr(SORTED), repr(SORTED))


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
def test_surface_equals_ranx() -> None:
    """Every public name of the classes and of the package is there."""
    oracle = load_ranx()
    for name in ("Qrels", "Run"):
        theirs, ours = getattr(oracle, name)(), getattr(ranx, name)()
        assert {one for one in dir(theirs) if one[0] != "_"} <= set(dir(ours))
    qrels, their_qrels = ranx.Qrels(GRADES), oracle.Qrels(GRADES)
    assert listed(qrels.to_dict()) == listed(their_qrels.to_dict())
    assert listed(ranx.Run(SCORES).to_dict()) == listed(oracle.Run(SCORES).to_dict())
    assert qrels.to_dataframe().equals(their_qrels.to_dataframe())
    assert type(qrels.to_dict()["q1"]["d1"]) is int


def test_rows_are_copied_from_the_caller_and_to_the_caller() -> None:
    given = copy.deepcopy(SCORES)
    run = ranx.Run(given)
    given["q1"]["d1"] = 9.0
    run["q1"]["d1"] = 9.0
    run.to_dict()["q1"]["d1"] = 9.0
    assert run["q1"]["d1"] == 0.1


def test_changes_to_the_shared_dict_count() -> None:
    """The dict `run.run` belongs to the run, as in ranx, also after an evaluation."""
    qrels, run = ranx.Qrels({"q": {"a": 1}}), ranx.Run({"q": {"b": 2.0, "a": 1.0}})
    assert ranx.evaluate(qrels, run, "mrr") == 0.5
    run.run["q"]["a"] = 3.0
    assert ranx.evaluate(qrels, run, "mrr") == 1.0
    run.run["q"]["a"] = 1.0
    assert ranx.evaluate(qrels, run, "mrr") == 0.5
    run.run = {"q": {"a": 1.0}}
    assert ranx.evaluate(qrels, run, "mrr") == 1.0
    qrels.qrels["q"]["a"] = 0
    assert ranx.evaluate(qrels, run, "mrr") == 0.0


def test_added_scores_count() -> None:
    qrels, run = ranx.Qrels(), ranx.Run()
    assert not run.sorted
    run.add("q", ["b", "c"], [2, 1])
    assert run.sorted
    run.add_score("q", "a", 3)
    assert not run.sorted
    assert list(run.run["q"]) == ["b", "c", "a"]
    qrels.add_multi(["q"], [["b"]], [[1]])
    assert ranx.evaluate(qrels, run, "mrr") == 0.5
    assert run.sorted
    assert list(run.run["q"].items()) == [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    run.add_score("q", "a", -3)
    assert ranx.evaluate(qrels, run, "mrr") == 1.0
    run.add_and_sort(["p"], [["x"]], [[1]])
    assert run.get_query_ids() == ["p", "q"]


def test_a_query_is_replaced_when_it_is_added_again() -> None:
    run = ranx.Run({"q": {"a": 1.0}})
    run.add("q", ["b"], [1.0])
    assert run.to_dict() == {"q": {"b": 1.0}}
    with pytest.raises(BerryEvalError, match="query 'q' needs a number for each document"):
        run.add("q", ["b", "c"], [1.0])


def test_levels_are_subtracted() -> None:
    qrels = ranx.Qrels(GRADES)
    qrels.set_relevance_level(2)
    assert qrels.to_dict() == {"q1": {"d1": 0, "d2": 1, "d3": -1}, "q2": {"d1": 0, "d2": 1}}
    run = ranx.Run({"q1": {"d3": 3.0, "d2": 1.0}, "q2": {"d2": 1.0}})
    assert ranx.evaluate(qrels, run, "bpref", return_mean=False).tolist() == [0.0, 1.0]


def test_fractional_grades_are_rejected() -> None:
    """Where ranx cuts 0.5 to 0 without a word."""
    with pytest.raises(BerryEvalError, match=r"hold whole grades, and 'd' has 0\.5; berryeval"):
        ranx.Qrels({"q": {"d": 0.5}})
    assert ranx.Qrels({"q": {"d": 1.0}})["q"] == {"d": 1}


@pytest.mark.parametrize("suffix", ["json", "trec", "txt", "lz4", "parquet", "parq", "trec.gz"])
def test_a_saved_run_is_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.{suffix}"
    ranx.Run(SCORES, name="bm25").save(path)
    run = ranx.Run.from_file(str(path))
    assert listed(run.to_dict()) == listed(SORTED)
    assert run.name == ("bm25" if suffix in {"trec", "txt", "trec.gz"} else None)
    assert ranx.Run.from_file(path, name="other").name == "other"


@pytest.mark.parametrize("suffix", ["json", "trec", "parquet", "trec.gz"])
def test_saved_judgments_are_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"qrels.{suffix}"
    ranx.Qrels(GRADES).save(path)
    assert ranx.Qrels.from_file(path).to_dict() == GRADES


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
@pytest.mark.parametrize("suffix", ["trec", "lz4"])
def test_files_are_exchanged_with_ranx(tmp_path: Path, suffix: str) -> None:
    oracle, path = load_ranx(), str(tmp_path / f"run.{suffix}")
    ranx.Run(SCORES, name="bm25").save(path)
    assert oracle.Run.from_file(path).to_dict() == SORTED
    oracle.Run(SCORES, name="bm25").save(path)
    assert ranx.Run.from_file(path).to_dict() == SORTED
    if suffix != "lz4":
        ranx.Qrels(GRADES).save(path)
        assert oracle.Qrels.from_file(path).to_dict() == GRADES


def test_a_file_is_made_comparable(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q3 Q0 a 1 2.0 tag\nq1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\n")
    run = ranx.Run.from_file(path)
    qrels = ranx.Qrels({"q1": {"a": 1}, "q2": {"a": 1}})
    assert ranx.evaluate(qrels, run, "mrr", make_comparable=True) == 0.25
    assert (run.name, run.to_dict()) == ("tag", {"q1": {"b": 2.0, "a": 1.0}, "q2": {}})


def test_a_sorted_run_forgets_the_dict_that_was_shared() -> None:
    run = ranx.Run()
    run.add_score("q", "a", 1.0)
    shared = run.run
    run.sort()
    assert run.run is not shared
    shared["q"]["b"] = 2.0
    assert run.to_dict() == {"q": {"a": 1.0}}


def test_a_compressed_file_of_another_tool_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"q1 Q0 d1 1 0.5 tag\n"))
    run = ranx.Run.from_file(path)
    assert (run.to_dict(), run.name) == ({"q1": {"d1": 0.5}}, "tag")


def test_frames_of_any_string_type_are_read(tmp_path: Path) -> None:
    """The from_df of ranx accepts only columns of objects, which pandas 3 no longer makes."""
    frame = pd.DataFrame({"q": ["q1", "q1"], "d": ["a", "b"], "s": [1.0, 2.0]})
    run = ranx.Run()
    for kind in ("object", "string", "category"):
        run = ranx.Run.from_df(frame.astype({"q": kind, "d": kind}), "q", "d", "s", name="n")
        assert listed(run.to_dict()) == [("q1", [("b", 2.0), ("a", 1.0)])]
    qrels = ranx.Qrels.from_df(frame.astype({"s": int}), "q", "d", "s")
    assert qrels.to_dict() == {"q1": {"a": 1, "b": 2}}
    frame.to_parquet(tmp_path / "run.parquet")
    options: dict[str, Any] = {"q_id_col": "q", "doc_id_col": "d", "score_col": "s"}
    for settings in (None, {"columns": ["q", "d", "s"]}):
        read = ranx.Run.from_parquet(tmp_path / "run.parquet", pd_kwargs=settings, **options)
        assert read.to_dict() == run.to_dict()
        judged = ranx.Qrels.from_parquet(tmp_path / "run.parquet", pd_kwargs=settings, **options)
        assert judged.to_dict() == qrels.to_dict()


def test_repeated_documents_are_rejected(tmp_path: Path) -> None:
    """Where ranx keeps the last row without a word."""
    frame = pd.DataFrame({"q_id": ["q", "q"], "doc_id": ["a", "a"], "score": [1.0, 2.0]})
    with pytest.raises(BerryEvalError, match="document 'a' appears twice in query 'q'"):
        ranx.Run.from_df(frame)
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 2.0 tag\nq Q0 a 2 1.0 tag\n")
    with pytest.raises(BerryEvalError, match=r"run.trec:2: document 'a' appears twice"):
        ranx.Run.from_file(path)


@pytest.mark.parametrize("given", [{"q": [1]}, {"q": {"d": "x"}}, {"q": {"d": float("nan")}}, [1]])
def test_invalid_rows_are_rejected(given: Any) -> None:
    for kind in (ranx.Run, ranx.Qrels, ranx.Run.from_dict, ranx.Qrels.from_dict):
        with pytest.raises(BerryEvalError):
            kind(given)


def test_kinds_of_files() -> None:
    for name in ("run", "qrels"):  # modules of ranx
        module = import_module(f"berryeval.compat.ranx.data_structures.{name}")
        assert module.get_file_kind is get_file_kind
    assert get_file_kind("a.txt") == "trec"
    assert get_file_kind("a.parq") == "parquet"
    assert get_file_kind("a.txt", "json") == "json"
    with pytest.raises(AssertionError, match="must be one of json, trec, lz4, gz, parquet"):
        get_file_kind("a.csv")
    with pytest.raises(AssertionError, match="judgments are written as"):
        ranx.Qrels(GRADES).save("qrels.lz4")


def test_judgments_of_ir_datasets_are_loaded(tmp_path: Path) -> None:
    package = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 0\n")
    judged = package.datasets.base.Dataset(
        package.formats.TrecQrels(
            package.util.LocalDownload(tmp_path / "qrels"), {0: "no", 2: "yes"}
        )
    )
    package.registry.register("berryeval-test", judged)
    qrels = ranx.Qrels.from_ir_datasets("berryeval-test")
    assert (qrels.name, qrels.to_dict()) == ("berryeval-test", {"q1": {"d1": 2, "d2": 0}})


def test_ranxhub_is_not_reached() -> None:
    with pytest.raises(BerryEvalError, match=r"berryeval\.Run\.load"):
        ranx.Run.from_ranxhub("msmarco/bm25")
    with pytest.raises(ImportError, match=r"berryeval\.Run\.load"):
        _ = ranx.ranxhub  # type: ignore[attr-defined]


def test_other_modules_name_the_native_way() -> None:
    with pytest.raises(ImportError, match=r"berryeval\.compare"):
        _ = import_module("berryeval.compat.ranx.statistical_tests").paired_student_t_test


def test_objects_can_be_copied_and_pickled() -> None:
    run = ranx.Run(SCORES, name="bm25")
    for made in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):  # noqa: S301 - ours
        made.add_score("q1", "d9", 9.0)
        assert len(made["q1"]) == 4
        assert (len(run["q1"]), made.name, made.metadata) == (3, "bm25", {})


def test_typed_lists_have_an_array_per_query() -> None:
    arrays = ranx.Run({**SCORES, "q0": {}}).to_typed_list()
    assert [array.shape for array in arrays] == [(0, 2), (3, 2), (2, 2)]
    assert arrays[1][:, 1].tolist() == [1 / 3, 0.3, 0.1]
    assert np.isin(arrays[2][:, 0], arrays[1][:, 0]).all()


def test_a_file_has_a_default_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for rows in (ranx.Qrels({"q": {"d": 1}}), ranx.Run({"q": {"d": 1.0}})):
        rows.save()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels.json", "run.json"]


@pytest.mark.parametrize("suffix", ["json", "trec", "trec.gz", "parquet", "lz4"])
def test_a_missing_file_raises_the_error_of_the_peer(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"nothing.{suffix}"
    for kind in (ranx.Run, ranx.Qrels) if suffix != "lz4" else (ranx.Run,):
        with pytest.raises(FileNotFoundError, match=rf"nothing.{suffix}: no such file") as caught:
            kind.from_file(path)
        assert isinstance(caught.value, DataError)
    with pytest.raises(FileNotFoundError):
        ranx.Qrels.from_parquet(path)
    with pytest.raises(DataError, match="is a directory") as other:
        ranx.Qrels.from_file(tmp_path, kind="json")
    assert not isinstance(other.value, FileNotFoundError)


def test_bools_and_numbers_of_numpy_count() -> None:
    """True counts as 1, as in ranx, and so does any number of NumPy."""
    run: Any = {"q": {"a": np.float32(2.0), "b": np.int64(1), "c": False}}
    for yes, no in ((True, False), (np.True_, np.False_), (np.int64(1), np.uint8(0)), (1.0, 0.0)):
        qrels: Any = {"q": {"a": no, "b": yes}}
        assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr") == 0.5
        assert ranx.evaluate(qrels, run, "mrr") == 0.5
        assert ranx.Qrels(qrels).to_dict() == {"q": {"b": 1, "a": 0}}
