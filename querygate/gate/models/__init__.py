"""Models: a formula becomes one statement, and its answer ranges of coefficients."""
