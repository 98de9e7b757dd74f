"""The figures of Safe Harbor, 45 CFR 164.514(b)(2)(i)."""

from __future__ import annotations

OLD = 90
"""Ages from which on are one group: (C), "all ages over 89"."""

FEW = 20_000
"""People of a ZIP area whose three digits are not published: (B)."""
