"""Exact Hamming search, in memory and on disk."""
