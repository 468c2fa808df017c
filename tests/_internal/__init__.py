"""Tests of `berryeval._internal`."""
