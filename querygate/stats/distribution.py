"""Bounds on exceedance, the ECDF as a p-box, histograms with count ranges."""
