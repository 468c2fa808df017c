"""Tests of `berryeval.runner`."""
