"""Bounds on COUNT(DISTINCT x) on intervals and value sets."""
