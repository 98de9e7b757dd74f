"""Models of grouped counts: from ranges for each covariate pattern to ranges of coefficients and ratios."""
