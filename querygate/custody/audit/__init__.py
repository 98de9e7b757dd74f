"""The auditor: from a query log to findings that can be checked."""
