"""The custodian's audits: of a log, of every answer as it comes, and of what store and log tell by themselves."""
