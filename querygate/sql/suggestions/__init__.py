"""What to ask instead of a statement that is refused."""
