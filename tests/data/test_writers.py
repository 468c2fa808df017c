"""Writers: files are read back to the bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from pyarrow import parquet

from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate
from tests.data.rows import bits, grades, ids, rows, scores, words

FORMATS = ["a.txt", "a.txt.gz", "a.json", "a.json.zst", "a.parquet"]


@settings(max_examples=40)
@given(rows(words, scores), rows(words, grades))
def test_written_tables_are_read_back_to_the_bit(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, float]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in FORMATS:
            path = Path(folder) / name
            for value, kind in ((Run.from_dict(run), Run), (Qrels.from_dict(qrels), Qrels)):
                write = {"t": value.to_trec, "j": value.to_json, "p": value.to_parquet}[name[2]]
                write(path)
                again = kind.load(path)
                assert bits(again.to_dict()) == bits(value.to_dict())
                assert list(again.table.queries) == list(value.table.queries)


@settings(max_examples=40)
@given(rows(ids, scores))
def test_json_and_parquet_hold_any_id(run: dict[str, dict[str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.json", "a.parquet"):
            path = Path(folder) / name
            value = Run.from_dict(run)
            (value.to_json if name == "a.json" else value.to_parquet)(path)
            assert bits(Run.load(path).to_dict()) == bits(run)


def test_run_is_written_in_rank_order(tmp_path: Path) -> None:
    run = Run.from_dict({"q": {"a": 0.1, "c": 0.1, "b": 1 / 3}, "p": {"x": 7}}, "my run")
    run.to_trec(tmp_path / "run")
    assert (tmp_path / "run").read_text(encoding="utf-8").splitlines() == [
        "q Q0 b 1 0.3333333333333333 my_run",
        "q Q0 c 2 0.1 my_run",
        "q Q0 a 3 0.1 my_run",
        "p Q0 x 1 7.0 my_run",
    ]
    run.to_json(tmp_path / "run.json")
    assert (tmp_path / "run.json").read_text(encoding="utf-8") == (
        '{\n"q": {"b": 0.3333333333333333, "c": 0.1, "a": 0.1},\n"p": {"x": 7.0}\n}\n'
    )


def test_judgments_are_written_with_whole_grades_and_their_groups(tmp_path: Path) -> None:
    text = b"q 3 a 2\nq 0 b -1\nq 0 c 0.5\n"
    (tmp_path / "in").write_bytes(text)
    Qrels.load(tmp_path / "in").to_trec(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == text
    Qrels.from_dict({"q": {"a": 1e300, "b": -0.0}}).to_trec(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"q 0 a 1e+300\nq 0 b -0.0\n"


@pytest.mark.parametrize("bad", ["", "a b", "a\tb", "a\n", "a\0b"])
def test_id_with_spaces_is_an_error_in_trec_files(tmp_path: Path, bad: str) -> None:
    for table in ({bad: {"d": 1}}, {"q": {bad: 1}}):
        with pytest.raises(DataError, match=r"a TREC file cannot hold the .* write JSON or Par"):
            Qrels.from_dict(table).to_trec(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_query_that_starts_with_a_hash_is_an_error_in_trec_files(tmp_path: Path) -> None:
    Qrels.from_dict({"q": {"#1": 1}}).to_trec(tmp_path / "out")
    with pytest.raises(DataError, match="which starts with #"):
        Qrels.from_dict({"#q": {"1": 1}}).to_trec(tmp_path / "out")


def test_a_parquet_file_keeps_the_name(tmp_path: Path) -> None:
    Run.from_dict({"q": {"d": 1}}, "my run").to_parquet(tmp_path / "a.parquet")
    assert Run.load(tmp_path / "a.parquet").name == "my run"


@settings(max_examples=40)
@given(rows(ids, scores, least=0).filter(lambda run: any(run.values())))
def test_json_and_parquet_keep_queries_without_rows(run: dict[str, dict[str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.json", "a.parquet"):
            path = Path(folder) / name
            value = Run.from_dict(run)
            (value.to_json if name == "a.json" else value.to_parquet)(path)
            again = Run.load(path)
            assert list(again.table.queries) == list(run)
            assert bits(again.to_dict()) == bits(run)


def test_scores_of_a_parquet_file_include_empty_queries(tmp_path: Path) -> None:
    run = Run.from_dict({"q1": {"a": 1.0}, "q2": {}})
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {}})
    before = evaluate(qrels, run, ["AP"], profile="trec_eval")
    run.to_parquet(tmp_path / "run.parquet")
    qrels.to_parquet(tmp_path / "qrels.parquet")
    after = evaluate(
        tmp_path / "qrels.parquet", tmp_path / "run.parquet", ["AP"], profile="trec_eval"
    )
    assert after == before
    assert after.outcomes == ("ok", "empty")
    assert after.left_out == ("q3",)


def test_metadata_of_empty_queries_is_ignored_after_rows_changed(tmp_path: Path) -> None:
    """A tool that removes rows but keeps the metadata does not restore queries."""
    path = tmp_path / "a.parquet"
    Run.from_dict({"q1": {"a": 1.0, "b": 2.0}, "q2": {}}).to_parquet(path)
    whole = parquet.read_table(path)
    parquet.write_table(whole.slice(0, 1), path)
    assert Run.load(path).to_dict() == {"q1": {"b": 2.0}}
    for record in (
        b"",
        b"[]",
        b'{"rows": 2, "queries": {"x": 1}}',
        b'{"rows": 2, "queries": {"1": "\\ud800"}}',
    ):
        told = {**whole.schema.metadata, b"berryeval.empty_queries": record}
        parquet.write_table(whole.replace_schema_metadata(told), path)
        assert list(Run.load(path).table.queries) == ["q1"]


@pytest.mark.parametrize(("kind", "what"), [(Run, "this run"), (Qrels, "these judgments")])
def test_query_without_rows_is_an_error_in_trec_files(
    tmp_path: Path, kind: type[Run | Qrels], what: str
) -> None:
    """Readers of the file would average over fewer queries."""
    value = kind.from_dict({"q1": {"a": 1.0}, "q2": {}, "q3": {}})
    with pytest.raises(DataError) as caught:
        value.to_trec(tmp_path / "out")
    assert str(caught.value) == (
        f"a TREC file cannot hold a query without rows, and 'q2' and 1 more have none in {what}; "
        "write JSON or Parquet, or leave such queries out with drop_empty=True"
    )
    assert not list(tmp_path.iterdir())
    value.to_trec(tmp_path / "out", drop_empty=True)
    assert kind.load(tmp_path / "out").to_dict() == {"q1": {"a": 1.0}}


def test_a_run_can_be_ranked_by_another_rule() -> None:
    """The depth of the rule does not cut the run."""
    run = Run.from_dict({"q": {"b": 1, "a": 1, "c": 2}})
    assert list(run.ranked().table.documents) == ["c", "b", "a"]
    rule = RankingRule("document ascending", depth=1)
    assert list(run.ranked(rule).table.documents) == ["c", "a", "b"]
    single = Run.from_dict({"q": {"a": 1 + 2**-40, "b": 1}})
    assert list(single.ranked().table.documents) == ["a", "b"]
    rule = RankingRule(single_precision=True)
    assert list(single.ranked(rule).table.documents) == ["b", "a"]


def test_a_name_that_is_not_valid_text_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    Run.from_dict({"q": {"d": 1.0}}, name="a\ud800 b").to_trec(path)
    assert path.read_text(encoding="utf-8") == "q Q0 d 1 1.0 a\\ud800_b\n"
