"""The clauses of a query: what it selects, from where, by what it groups, orders and limits."""
