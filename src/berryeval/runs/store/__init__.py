"""The store of past runs: one SQLite file, or a PostgreSQL database."""
