"""Readers of indexes that exist, one per engine; none of them writes."""
