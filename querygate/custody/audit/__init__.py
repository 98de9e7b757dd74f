"""The auditor: from a query log to findings that somebody can check."""
