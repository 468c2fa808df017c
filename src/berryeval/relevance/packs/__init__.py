"""Packs: relevance rules that a benchmark brings along."""
