"""People in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.errors import ConfigurationError
from berryeval.runs.store.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """Open a store with an administrator."""
    with open_store(place) as found:
        found.users.add_first("Ann", "1" * 64)
        yield found


def test_people_are_kept_with_role_and_hash(store: Store) -> None:
    store.users.add("  bob\t the  builder ", "judge", "2" * 64)
    store.users.change("bob the builder", role="look")
    store.users.change("bob the builder", token_hash="3" * 64)
    shown = [(one.name, one.role, one.token_hash[0]) for one in store.users.list()]
    assert shown == [("Ann", "administer", "1"), ("bob the builder", "look", "3")]


def test_only_one_first_administrator_is_added(store: Store) -> None:
    assert store.users.add_first("Eve", "4" * 64) is None
    assert [one.name for one in store.users.list()] == ["Ann"]


@pytest.mark.parametrize("name", ["", " ", "x" * 81, "a\x07b", "ann"])
def test_bad_and_taken_names_are_refused(store: Store, name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"characters|taken"):
        store.users.add(name, "look", "5" * 64)
    assert len(store.users.list()) == 1


def test_the_last_administrator_stays(store: Store) -> None:
    store.users.add("bob", "judge", "2" * 64)
    with pytest.raises(ConfigurationError, match="Ann is the only one who may administer"):
        store.users.change("Ann", role="look")
    with pytest.raises(ConfigurationError, match="give that role to someone else first"):
        store.users.remove("Ann")
    store.users.change("bob", role="administer")
    store.users.remove("Ann")
    assert [one.name for one in store.users.list()] == ["bob"]


def test_unknown_people_and_roles_are_errors(store: Store) -> None:
    with pytest.raises(ConfigurationError, match="no person is named 'eve'"):
        store.users.remove("eve")
    with pytest.raises(ConfigurationError, match="one of look, judge, administer"):
        store.users.change("Ann", role="root")  # type: ignore[arg-type]
