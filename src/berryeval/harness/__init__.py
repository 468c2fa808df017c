"""The harness: ask every query of a provider, lose nothing, measure fairly."""
