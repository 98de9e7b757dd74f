"""Systems of codes that several packages read."""
