"""Columns of code lists: read, protected, and measured for their remaining utility."""
