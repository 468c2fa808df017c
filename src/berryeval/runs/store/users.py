"""People who may sign in to a server, with their roles; of their tokens only hashes are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from sqlalchemy import delete, func, insert, select, update

from berryeval._internal.validate import require, require_choice
from berryeval.errors import ConfigurationError
from berryeval.runs.store.schema import to_column_text, user_rows

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from berryeval.runs.store.database import Database

Role: TypeAlias = Literal["look", "judge", "administer"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)  # each includes those before it
_LONGEST: Final = 80  # characters of a name


@dataclass(frozen=True)
class StoredUser:
    """A person who may sign in."""

    name: str
    role: Role
    token_hash: str
    created: str


class Users:
    """The people of a store; every call is one transaction, and one administrator always stays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> list[StoredUser]:
        """Return everyone, by name."""
        columns = (user_rows.c.name, user_rows.c.role, user_rows.c.token_hash, user_rows.c.created)
        with self._database.reading() as connection:
            rows = connection.execute(select(*columns)).all()
        return sorted((StoredUser(*row) for row in rows), key=lambda one: one.name.casefold())

    def add(self, name: str, role: Role, token_hash: str) -> StoredUser:
        """Add a person, unless the name is taken."""
        name = _check_name(name)
        _check_role(role)
        created = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self._database.writing() as connection:
            taken = {one.casefold() for one in connection.scalars(select(user_rows.c.name))}
            if name.casefold() in taken:
                raise ConfigurationError(f"the name {name!r} is taken; choose another")
            row = {"name": name, "role": role, "token_hash": token_hash, "created": created}
            connection.execute(insert(user_rows).values(row))
        return StoredUser(name, role, token_hash, created)

    def add_first(self, name: str, token_hash: str) -> StoredUser | None:
        """Add the first administrator; None if there is one already."""
        with self._database.reading() as connection:
            if _count_administrators(connection):
                return None
        return self.add(name, "administer", token_hash)

    def change(self, name: str, *, role: Role | None = None, token_hash: str = "") -> None:
        """Give a person another role, or another token."""
        values = {"token_hash": token_hash} if token_hash else {}
        if role is not None:
            values["role"] = _check_role(role)
        with self._database.writing() as connection:
            changed = connection.execute(_where_named(update(user_rows), name).values(values))
            _check_change(connection, name, changed.rowcount)

    def remove(self, name: str) -> None:
        """Remove a person; their votes stay."""
        with self._database.writing() as connection:
            gone = connection.execute(_where_named(delete(user_rows), name))
            _check_change(connection, name, gone.rowcount)


def _where_named(statement: Any, name: str) -> Any:
    return statement.where(user_rows.c.name == to_column_text(name))


def _check_name(name: str) -> str:
    found = " ".join(name.split())
    require(
        bool(found) and len(found) <= _LONGEST and found.isprintable(),
        "name", f"1 to {_LONGEST} printable characters", name,
    )  # fmt: skip
    return to_column_text(found)


def _check_role(role: Role) -> Role:
    require_choice("role", role, ROLES)
    return role


def _check_change(connection: Connection, name: str, count: int) -> None:
    """Undo the change of a person who is not there, or of the last administrator."""
    if not count:
        raise ConfigurationError(f"no person is named {name!r:.80}")
    if not _count_administrators(connection):
        raise ConfigurationError(
            f"{name} is the only one who may administer; give that role to someone else first"
        )


def _count_administrators(connection: Connection) -> int:
    wanted = select(func.count()).where(user_rows.c.role == ROLES[-1])
    return connection.scalar(wanted.select_from(user_rows)) or 0
