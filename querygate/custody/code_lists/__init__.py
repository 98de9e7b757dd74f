"""Columns of code lists: read, protected, and measured for what they are still good for."""
