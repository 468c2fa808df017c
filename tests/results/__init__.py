"""Tests of `berryeval.results`."""
