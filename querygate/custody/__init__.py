"""Everything that may see a raw row. The custodian runs it; no process that serves researchers imports it."""
