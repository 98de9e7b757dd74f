"""The published plane on its engines: all that a serving machine needs."""
