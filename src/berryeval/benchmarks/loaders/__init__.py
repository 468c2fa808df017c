"""Loaders: one module per benchmark format."""
