"""Rerankers: each orders the hits of a first search again."""
