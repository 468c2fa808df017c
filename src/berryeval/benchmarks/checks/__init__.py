"""Checks of a benchmark."""
