"""The published plane on its engines: what a serving machine needs."""
