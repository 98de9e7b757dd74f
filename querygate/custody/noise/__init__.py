"""Noisy answers: exact counts of raw rows in, calibrated noise out, paid for from a budget."""
