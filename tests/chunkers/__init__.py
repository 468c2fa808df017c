"""Chunkers."""
