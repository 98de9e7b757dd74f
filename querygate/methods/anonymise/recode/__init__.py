"""Recoding by hierarchy, and suppression: what extracts are made with."""
