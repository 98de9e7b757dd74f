"""The log: entries, their chain, archives, signatures, and whoever reads them. `log` writes it."""
