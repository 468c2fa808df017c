"""The charts: each a pure function from numbers to a Vega-Lite specification and words for it."""
