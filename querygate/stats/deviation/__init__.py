"""The median absolute deviation, and the searches behind it."""

from querygate.stats.deviation import mad

__all__ = ["mad"]
