"""Tests of the spellings of tests and corrections."""

from __future__ import annotations

import pytest

import berryeval as be
from berryeval.errors import ConfigurationError
from berryeval.stats.corrections import CORRECTIONS, correct_p_values
from berryeval.stats.tests import TESTS, paired_test
from tests.gates.worlds import scores_of

A, B = [0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("ttest", "t"),
        ("t-test", "t"),
        ("T_test", "t"),
        ("paired t-test", "t"),
        ("Student's t", "t"),
        ("Randomization test", "randomization"),
        ("Wilcoxon signed-rank test", "wilcoxon"),
        ("sign_test", "sign"),
    ],
)
def test_test_is_known_by_its_usual_names(spelling: str, name: str) -> None:
    assert TESTS.canonical(spelling) == name
    assert paired_test(spelling, A, B) == paired_test(name, A, B)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("BH", "benjamini-hochberg"),
        ("benjamini_hochberg", "benjamini-hochberg"),
        ("fdr_bh", "benjamini-hochberg"),
        ("Holm-Bonferroni", "holm"),
        ("None", "none"),
    ],
)
def test_correction_is_known_by_its_usual_names(spelling: str, name: str) -> None:
    assert CORRECTIONS.canonical(spelling) == name
    assert correct_p_values([0.01, 0.04], spelling) == correct_p_values([0.01, 0.04], name)
    systems = {"a": scores_of({"RR": A}), "b": scores_of({"RR": B})}
    assert be.compare(systems, test="t-test", correction=spelling).correction == name


def test_wrong_argument_order_is_explained() -> None:
    with pytest.raises(
        ConfigurationError, match=r'paired_test\("t", a, b\), found list; there are'
    ):
        paired_test(A, B, "t")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="unknown test 'wilcoxn'; did you mean 'wilcoxon'"):
        paired_test("wilcoxn", A, B)
    with pytest.raises(ConfigurationError, match="name of a correction, found NoneType; there are"):
        correct_p_values([0.01], None)  # type: ignore[arg-type]
