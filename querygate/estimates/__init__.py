"""One likely table for a version, made only from published data: estimates beside ranges are computed from it.

column_pieces         the values of columns in pieces that no cell cuts, and how likely each is
points                cells as weighted points: records spread inside their cells
fitted_views          margins of views as one table, by iterative proportional fitting
weighted_statistics   statistics of weighted points
"""
