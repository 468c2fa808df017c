"""Anchors: where a judgment's target stands in a text, and which chunks cover it."""
