"""Sequences of a source made as long as each other, by aligning each to a reference."""
