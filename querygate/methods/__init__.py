"""Algorithms that only the custodian needs: pure, and independent of each other."""
