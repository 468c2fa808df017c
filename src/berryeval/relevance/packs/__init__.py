"""Packs: the relevance rules of benchmarks."""
