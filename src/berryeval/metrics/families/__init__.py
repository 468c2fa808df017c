"""One module per family of metrics."""
