"""Measures every promise again on the written file, with independent code."""
