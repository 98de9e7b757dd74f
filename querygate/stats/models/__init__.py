"""Models of grouped counts: what is known of each covariate pattern in, ranges of coefficients and ratios out."""
