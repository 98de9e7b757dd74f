"""What generalising cost, and what is left to risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences.alignment import Alignment


@dataclass(frozen=True, slots=True)
class SequenceMeasures:
    """Of a release beside its original. Shares are between 0 and 1, risks are the prosecutor's."""

    sequences: int
    sites: int
    classes: int
    k: int
    steps: int
    """Lattice distance of all sequences to what replaces them."""
    symbols_intact: float
    sites_intact: float
    """Sites where no sequence has changed."""
    bits_before: float
    bits_after: float
    """Ambiguity of a site on average: 0 where a base is known, 1 where it is one of two, 2 for N."""
    greatest_risk: float
    average_risk: float
    in_pairs: int
    """Sequences identical to one other alone. Who knows one of a pair can tell the other: at R, if one has A, G."""


def measure(original: Alignment, released: Alignment) -> SequenceMeasures:
    """What is kept of the original.

    >>> import numpy as np
    >>> from querygate.methods.sequences.alignment import generalised, of_texts
    >>> mice = of_texts(["AACA", "GACA", "TTTT", "TTTT"])
    >>> kept = measure(mice, generalised(mice, np.array([0, 0, 1, 1])))
    >>> kept.steps, kept.symbols_intact, kept.sites_intact, kept.bits_after, kept.greatest_risk
    (2, 0.875, 0.75, 0.125, 0.5)
    """
    if original.codes.shape != released.codes.shape:
        raise ValueError("as many sequences and sites as before")
    lattice, same = original.lattice, original.codes == released.codes
    sizes = class_sizes(released)
    return SequenceMeasures(
        original.sequences,
        original.sites,
        sizes.size,
        int(sizes.min()),
        int(lattice.level[released.codes].sum() - lattice.level[original.codes].sum()),
        float(same.mean()),
        float(same.all(axis=0).mean()),
        float(lattice.ambiguity[original.codes].mean()),
        float(lattice.ambiguity[released.codes].mean()),
        float(1 / sizes.min()),
        sizes.size / original.sequences,
        int(2 * (sizes == 2).sum()),
    )


def class_sizes(alignment: Alignment) -> Ints:
    """How many sequences there are of each that occurs."""
    rows = np.ascontiguousarray(alignment.codes).view(f"V{alignment.sites}")
    return np.unique(rows, return_counts=True)[1].astype(np.int64)


def explain_kept(kept: SequenceMeasures) -> str:
    """For those who decide.

    >>> import numpy as np
    >>> from querygate.methods.sequences.alignment import generalised, of_texts
    >>> mice = of_texts(["AACA", "GACA", "TTTT", "TTTT"])
    >>> explain_kept(measure(mice, generalised(mice, np.array([0, 0, 1, 1]))))
    '4 sequences of 4 sites form 2 classes of identical sequences, so somebody known by the whole sequence is found \
with a probability of at most 1 in 2; 87.5 % of the letters and 75.0 % of the sites are unchanged, and the uncertainty \
of a site is 0.125 bits on average (0.000 before). 4 sequences have only one twin: anyone who knows one of the two can \
infer the other.'
    """
    text = (
        f"{kept.sequences:,} sequences of {kept.sites:,} sites form {kept.classes:,} classes of identical sequences, "
        f"so somebody known by the whole sequence is found with a probability of at most 1 in {kept.k:,}; "
        f"{100 * kept.symbols_intact:.1f} % of the letters and {100 * kept.sites_intact:.1f} % of the sites are "
        f"unchanged, and the uncertainty of a site is {kept.bits_after:.3f} bits on average ({kept.bits_before:.3f} "
        "before)."
    )
    if not kept.in_pairs:
        return text
    return (
        f"{text} {kept.in_pairs:,} sequences have only one twin: anyone who knows one of the two can infer the other."
    )
