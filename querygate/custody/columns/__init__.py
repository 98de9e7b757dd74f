"""From raw values to the codes that are published: hierarchies, groups, joined tables, populations."""
