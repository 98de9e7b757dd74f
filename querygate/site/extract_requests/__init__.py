"""Requests for extracts: what is done with them, their figures, and the files that leave."""
