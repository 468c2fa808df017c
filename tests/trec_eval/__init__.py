"""Tests of what trec_eval prints."""
