"""Bounds on confidence limits on a mean, differences of means, Welch's t and its p-value."""
