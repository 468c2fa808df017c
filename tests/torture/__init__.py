"""Trials that try to break BerryEval for as long as they are told: `make torture`."""
