"""diffprivlib behind a guard: a warning that data leak stops the computation.

The library draws noise in floating point. The gaps between floats can reveal the value below the noise (Mironov 2012),
so its guarantee is that of the published mechanisms up to rounding, unlike that of the exact samplers for this gate's
counts and sums. Every answer says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from querygate.core.errors import ExtractRefused

CAVEAT = (
    "The noise was drawn in floating point by diffprivlib {version}: its guarantee is that of the published mechanisms "
    "up to rounding and the tolerance of a solver. Noisy counts and sums of this gate are drawn exactly instead."
)


def caveat() -> str:
    return CAVEAT.format(version=version("diffprivlib"))


def open_library() -> Any:
    """diffprivlib, or ExtractRefused QG605 if it is not installed."""
    try:
        import diffprivlib
        import diffprivlib.models
        import diffprivlib.tools
    except ImportError:
        raise ExtractRefused(
            "QG605",
            "Noisy models need the library diffprivlib, which is not installed where the raw rows are.",
            "Ask the custodian to install it: pip install 'querygate[extracts]'.",
        ) from None
    return diffprivlib


@contextmanager
def guarded() -> Iterator[None]:
    """Within it a PrivacyLeakWarning, or an argument that the library ignores, is a refusal."""
    from diffprivlib.utils import DiffprivlibCompatibilityWarning, PrivacyLeakWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a solver's messages may reveal something about the data
        warnings.simplefilter("error", PrivacyLeakWarning)
        warnings.simplefilter("error", DiffprivlibCompatibilityWarning)
        try:
            yield
        except (PrivacyLeakWarning, DiffprivlibCompatibilityWarning):
            raise ExtractRefused(
                "QG605",
                "The model was stopped: the library would have learnt a bound from the data.",
                "Nothing was released. Report this fault to the makers of QueryGate.",
            ) from None
