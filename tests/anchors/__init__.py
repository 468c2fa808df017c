"""Tests of anchors."""
