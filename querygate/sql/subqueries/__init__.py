"""Queries inside queries: as tables, as values, as conditions, one after the other."""
