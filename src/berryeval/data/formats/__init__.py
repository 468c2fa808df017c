"""File formats of judgments and runs."""
