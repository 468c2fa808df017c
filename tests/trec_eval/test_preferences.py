"""Preferences: the join with a ranking, and metrics on cases counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.errors import DataError
from berryeval.trec_eval.preferences import (
    PREFERENCE_METRICS,
    JudgedPreferences,
    Preference,
    Tally,
    judge_preferences,
)


def rows(text: str) -> list[Preference]:
    """Parse `group/subgroup document=level ...`, groups separated by semicolons."""
    found = []
    for part in text.split(";"):
        place, *documents = part.split()
        group, subgroup = place.encode().split(b"/")
        for document in documents:
            name, level = document.split("=")
            found.append(Preference(group, subgroup, name.encode(), float(level)))
    return found


def join(text: str, ranking: str) -> JudgedPreferences:
    """Join preferences with a ranking of one-letter documents."""
    return judge_preferences(rows(text), [letter.encode() for letter in ranking])


def value(name: str, text: str, ranking: str) -> float:
    """Compute a metric of a join."""
    return PREFERENCE_METRICS[name](join(text, ranking))


def test_preferences_are_retrieved_implied_or_absent() -> None:
    judged = join("g/0 a=3 b=2 c=1 d=0 e=0", "xbac")
    # b a c are in the ranking, d and e are not.
    # a>b missed; a>c b>c kept; a>d a>e b>d b>e c>d c>e implied and kept.
    assert judged.groups[0].counts == (Tally(2, 3), Tally(6, 6), 0)
    assert join("g/0 a=3 b=2 c=1 d=0 e=0", "e").groups[0].counts == (Tally(0, 0), Tally(0, 3), 6)


def test_counts_are_sums_over_groups() -> None:
    text = "g/0 a=1 b=0; h/0 b=1 a=0; i/0 c=1 d=0"
    assert value("prefs_num_prefs_poss", text, "ab") == 3
    assert value("prefs_num_prefs_ful", text, "ab") == 1
    assert value("prefs_num_prefs_ful_ret", text, "ab") == 1


def test_simple_share() -> None:
    text = "g/0 a=2 b=1 c=0 d=0"
    # b>c kept, a>b and a>c implied misses, b>d implied kept, a>d does not occur.
    assert value("prefs_simp", text, "bc") == 2 / 5
    assert value("prefs_simp_imp", text, "bc") == 2 / 4
    assert value("prefs_simp_ret", text, "bc") == 1


def test_mean_over_groups() -> None:
    text = "g/0 a=1 b=0; h/0 a=2 b=1 c=0; i/0 a=1 b=1"
    assert value("prefs_avgjg", text, "acb") == (1 + 2 / 3 + 0) / 3
    assert value("prefs_simp", text, "acb") == 3 / 4


def test_mean_over_pairs() -> None:
    text = "g/0 a=1 b=0; h/0 a=0 b=1; i/0 a=1 b=0; j/0 c=1 d=0"
    assert value("prefs_pair", text, "ab") == (2 / 3) / 2
    assert value("prefs_pair_imp", text, "ab") == 2 / 3
    assert value("prefs_pair", text, "abcd") == (2 / 3 + 1) / 2
    assert value("prefs_pair_ret", text, "ac") == 0
    assert value("prefs_pair_imp", text, "ac") == (2 / 3 + 1) / 2


def test_subgroups_of_a_group_are_combined() -> None:
    assert value("prefs_num_prefs_poss", "g/0 a=1 b=0; g/1 c=1 a=0.5", "abc") == 3
    assert value("prefs_num_prefs_ful", "g/0 a=1 b=0; g/1 c=1 a=0.5", "abc") == 1
    assert value("prefs_num_prefs_ful", "g/0 a=1 b=0; g/1 c=1 a=0.5", "cab") == 3


def test_nonrelevant_documents_are_balanced_with_relevant_ones() -> None:
    # R=2, N=1: a>c b>c, and one more nonrelevant document that nothing retrieves.
    assert value("prefs_avgjg_Rnonrel", "g/0 a=1 b=1 c=0", "ac") == (2 - 1 + 1) / (2 + 2)
    # Two subgroups, R=1, N=2: only c, the first nonrelevant one, is kept.
    text = "g/0 a=1 b=0; g/1 a=1 c=0"
    assert value("prefs_avgjg_Rnonrel", text, "cab") == 0
    assert value("prefs_avgjg", text, "cab") == 1 / 2


def test_a_group_without_preferences_makes_the_balanced_mean_0() -> None:
    """trec_eval divides 0 by 0 there."""
    assert value("prefs_avgjg_Rnonrel", "g/0 a=1 b=0", "ab") == 1
    assert value("prefs_avgjg_Rnonrel", "g/0 a=1 b=0; h/0 a=0 b=0", "ab") == 0
    assert value("prefs_avgjg_Rnonrel_ret", "g/0 a=1 b=0; h/0 c=1 d=0", "ab") == 0


def test_contradictory_preferences_are_rejected() -> None:
    with pytest.raises(DataError, match="document 'a' has two levels in group 'g'"):
        join("g/0 a=1 a=0", "a")
    with pytest.raises(DataError, match="preferences of group 'g' contradict each other"):
        join("g/0 a=2 b=1; g/1 b=2 a=1", "a")
    with pytest.raises(DataError, match="document 'a' is both relevant and not relevant in group"):
        join("g/0 a=1 b=0; g/1 a=0 c=0", "a")


@given(
    st.lists(st.tuples(st.sampled_from("gh"), st.sampled_from("abcdef"), st.integers(0, 3))),
    st.permutations("abcdefgh"),
    st.integers(0, 8),
)
def test_preference_shares_stay_between_0_and_1(
    judgments: list[tuple[str, str, int]], order: list[str], depth: int
) -> None:
    levels = {(group, document): level for group, document, level in judgments}
    text = ";".join(f"{group}/0 {name}={level}" for (group, name), level in levels.items())
    if not text:
        return
    for name, formula in PREFERENCE_METRICS.items():
        found = formula(join(text, "".join(order[:depth])))
        assert 0 <= found <= (1 if "num_prefs" not in name else 100)
    one = {document: level for (group, document), level in levels.items() if group == "g"}
    if len(set(one.values())) > 1:
        text = "g/0 " + " ".join(f"{name}={level}" for name, level in one.items())
        best = "".join(sorted(one, key=one.__getitem__, reverse=True))
        assert value("prefs_simp", text, best) == value("prefs_pair", text, best) == 1


def test_infinite_levels_and_missing_judgments() -> None:
    assert value("prefs_num_prefs_poss", "g/0 a=inf b=inf c=0", "abc") == 2
    assert value("prefs_simp", "g/0 a=inf b=inf c=-inf d=-inf", "abcd") == 1
    for formula in PREFERENCE_METRICS.values():
        assert formula(judge_preferences([], [b"a"])) == 0


def naive_pairs(found: list[Preference]) -> list[tuple[bytes, bytes]]:
    """List the preferences of one group pair by pair, with those implied across subgroups."""
    pairs = [
        (one.document, other.document)
        for one in found
        for other in found
        if one.subgroup == other.subgroup and one.level > other.level
    ]
    if len({row.subgroup for row in found}) == 1:
        return pairs
    known = set(pairs)
    while more := {(a, d) for a, b in known for c, d in known if b == c} - known:
        known |= more
    return sorted(known)


@given(
    st.lists(
        st.tuples(st.sampled_from("gh"), st.sampled_from("stu"), st.sampled_from("abcdef")),
        min_size=1,
    ),
    st.tuples(*[st.integers(1, 3)] * 6),
    st.permutations("abcdefgh"),
    st.integers(0, 8),
)
def test_metrics_equal_a_naive_count(
    said: list[tuple[str, str, str]], level_of: tuple[int, ...], order: list[str], depth: int
) -> None:
    found = [
        Preference(
            group.encode(), subgroup.encode(), name.encode(), float(level_of["abcdef".index(name)])
        )
        for group, subgroup, name in said
    ]
    ranking = [name.encode() for name in order[:depth]]
    judged = {row.document for row in found}
    ranked = [name for name in ranking if name in judged]
    place = {name: at for at, name in enumerate([*ranked, *sorted(judged - set(ranked))])}
    pairs = [
        (place[one], place[other])
        for group in sorted({row.group for row in found})
        for one, other in naive_pairs([row for row in found if row.group == group])
    ]
    join = judge_preferences(found, ranking)
    kept = [a < b and a < len(ranked) for a, b in pairs]
    assert PREFERENCE_METRICS["prefs_num_prefs_poss"](join) == len(pairs)
    assert PREFERENCE_METRICS["prefs_num_prefs_ful"](join) == sum(kept)
    total, counted = 0.0, 0
    spoken_of = sorted({(min(pair), max(pair)) for pair in pairs})
    for a, b in spoken_of:
        if b < len(ranked):
            total += pairs.count((a, b)) / (pairs.count((a, b)) + pairs.count((b, a)))
            counted += 1
    expected = total / counted if counted else 0.0
    assert PREFERENCE_METRICS["prefs_pair_ret"](join) == expected
