"""Exporters: one module per report format."""
