"""The JSON shapes of the HTTP door."""
