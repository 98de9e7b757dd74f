"""From a source to a published version, as an ordered tuple of steps."""
