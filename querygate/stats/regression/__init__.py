"""Multiple regression by least squares: a range for each coefficient."""
