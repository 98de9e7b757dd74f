"""How many people two custodians have in common, without either seeing whom the other has."""
