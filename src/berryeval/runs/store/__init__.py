"""The store of past runs: a SQLite file or a PostgreSQL database."""

from berryeval._internal.optional import import_optional

# Every module of the store needs it: the first that is imported says so.
import_optional("sqlalchemy", "the store of past runs", extra="store")
