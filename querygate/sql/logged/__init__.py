"""Statements of a log, read again for the auditor: what each asked, and of which values."""
