"""The commands of auditors: audit log, audit file, and reports that need no raw data."""
