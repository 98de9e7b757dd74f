"""Bounds on skewness, kurtosis, entropy and the higher central moments."""
