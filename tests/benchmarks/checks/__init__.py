"""Checks of benchmarks."""
