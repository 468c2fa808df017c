"""Anchors, and the texts they point into."""
