"""Requests for extracts: what is wished for, whether it can be, and how it is approved."""
