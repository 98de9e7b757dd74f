"""The report on a published version, for the custodian."""
