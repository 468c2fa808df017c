"""Tests of `berryeval.data`."""
