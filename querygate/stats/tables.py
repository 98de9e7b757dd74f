"""Bounds on proportions and 2x2 tables."""
