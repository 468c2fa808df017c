"""Tests of `berryeval.providers`."""
