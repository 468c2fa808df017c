"""Tests of `berryeval.harness`."""
