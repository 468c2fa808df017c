"""Tests of `berryeval.io`: files, frames and arrays in and out."""
