"""Methods that build classes from below, and ways to improve finished ones."""
