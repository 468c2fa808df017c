"""The store of past runs: a SQLite file or a PostgreSQL database."""
