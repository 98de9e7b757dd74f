"""Recoding by hierarchy, and suppression, for extracts."""
