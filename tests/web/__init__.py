"""Tests of `berryeval.web`."""
