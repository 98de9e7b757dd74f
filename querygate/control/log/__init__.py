"""The log: entries, their chain, archives, signatures and readers. `log` writes it."""
