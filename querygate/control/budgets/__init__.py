"""Privacy budgets on disk: the ledger, and the log as evidence of what was spent."""
