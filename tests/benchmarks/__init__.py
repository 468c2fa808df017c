"""Tests of benchmarks: what they are, and how they are loaded and written."""
