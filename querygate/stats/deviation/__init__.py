"""The median absolute deviation, and the searches behind it."""
