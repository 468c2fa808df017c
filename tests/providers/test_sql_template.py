"""SQL of users: parameters are found outside of texts and comments, and values are only bound."""

from __future__ import annotations

import pytest

from berryeval.errors import ConfigurationError
from berryeval.providers.readers.sql_template import SqlTemplate, require_condition


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("x = :query", "x = %(query)s"),
        ("x = :query::text", "x = %(query)s::text"),
        ("x LIKE '5%' AND y = :query", "x LIKE '5%%' AND y = %(query)s"),
        ("':vector' <> :query", "':vector' <> %(query)s"),
        ("E'it\\'s :vector' <> :query", "E'it\\'s :vector' <> %(query)s"),
        ("'it''s :vector' <> :query", "'it''s :vector' <> %(query)s"),
        ('":vector" = :query', '":vector" = %(query)s'),
        ("$$ :vector; $$ <> :query", "$$ :vector; $$ <> %(query)s"),
        ("$a$ :vector $$ $a$ <> :query", "$a$ :vector $$ $a$ <> %(query)s"),
        ("y[1:2] = :query /* :vector; */", "y[1:2] = %(query)s /* :vector; */"),
        ("x = :query -- :vector; ?", "x = %(query)s -- :vector; ?"),
    ],
)
def test_parameters_are_those_outside_of_texts_and_comments(written: str, sent: str) -> None:
    template = SqlTemplate.parse(f"SELECT :k, {written}", "query")
    assert template.names == {"query", "k"}
    assert template.for_psycopg() == f"SELECT %(k)s, {sent}"


@pytest.mark.parametrize(
    "written",
    [
        "(SELECT :query) UNION SELECT :k", "-- find\nselect :query, :k;", "SELECT ';', :query, :k",
        "WITH a AS (SELECT 1) SELECT :vector, :k ; ", "/* ; */ SELECT :query, :k",
    ],
)  # fmt: skip
def test_one_statement_may_have_any_form(written: str) -> None:
    assert not SqlTemplate.parse(written, "query").text.endswith(";")


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "a = 1; DROP TABLE x", "a = 1 -- ", "a = 1 /* ", "a = 1) OR (b = 2", "(a = 1", 7,
        ["a"], "a$$ = 1); DELETE FROM x; --$$", "a→$b$ = 1; DROP TABLE x; --$b$",
        "a$e'\\' = 1; DROP TABLE x; --'",
    ],
)  # fmt: skip
def test_a_condition_is_a_single_one(written: object) -> None:
    with pytest.raises(ConfigurationError, match=r"^where must be"):
        require_condition(written, "where")


def test_a_condition_may_contain_texts() -> None:
    require_condition("a = '; -- ) :b' AND (b LIKE '5%' OR c::text = 'x')", "where")
    require_condition("a = $$; -- ) :b$$ AND b$$ = E'\\'; --' AND c = $t$;$$;$t$", "where")


def test_a_condition_has_no_parameters() -> None:
    with pytest.raises(ConfigurationError, match=r"^where has the parameter :query; write the val"):
        require_condition("a = :query", "where")
    with pytest.raises(ConfigurationError, match=r"^where has the parameter \?; write the value"):
        require_condition("a = 'x?' AND b = ?1", "where")


def test_a_question_mark_may_be_an_operator_or_in_a_name() -> None:
    require_condition("data ? 'key'", "where", has_operator=True)
    require_condition("\"a?\" = 1 AND `b?` = 2 AND [c?] = '?'", "where")
