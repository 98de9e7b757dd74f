"""One likely table for a version, made from what is published alone: what estimates beside ranges are read from.

column_pieces   the values of columns in pieces that no cell cuts, and how likely each is
points          cells as points with weights: records spread inside their cells
fitted_views    margins of views as one table, by iterative proportional fitting
figures         statistics of points with weights
"""
