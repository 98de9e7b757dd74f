"""How many people two custodians have in common, without either seeing the other's people."""
