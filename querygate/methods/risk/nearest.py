"""How near synthetic records come to original ones, against how near originals come to each other.

A synthetic record that lies closer to a real one than real ones lie to each other may be a copy of it. The measures are
the usual ones (Zhao et al., "CTAB-GAN: effective table data synthesizing", ACML 2021; Platzer and Reutterer,
"Holdout-based empirical assessment of mixed-type synthetic data", Frontiers in Big Data 2021):

- DCR, distance to the closest record: of each synthetic record to its nearest original;
- NNDR, nearest-neighbour distance ratio: that distance divided by the distance to the second nearest. Close to 0 the
  record is in the place of one original and of no other; 1 where it lies between several.

Neither means anything alone: they are compared with the same measures of originals among themselves (each one's nearest
*other* original) and, where records were held out when the synthetic ones were made, with those of the records held
out. Synthetic records nearer to originals than records held out are show that originals were memorised.

They are averages over many. A small DCR proves closeness, a large one does not prove safety (Ganev and De Cristofaro,
"The inadequacy of similarity-based privacy metrics", IEEE S&P 2025); `membership` looks at the persons.

>>> import numpy as np
>>> none = np.zeros((4, 0), dtype=np.int64)
>>> original = PointRecords(np.array([[0.0], [10.0], [20.0], [40.0]]), none)
>>> found = nearness(original, synthetic=PointRecords(np.array([[0.0], [15.0], [30.0], [39.0]]), none))
>>> found.equal, round(found.synthetic.middle, 3), found.original.middle
(0.25, 0.075, 0.25)
>>> explain_nearness(found)
'25.0 % of the 4 synthetic records equal an original record; the median distance to the nearest original is 0.3 times \
that between originals, so the synthetic records are closer to persons than persons are to each other.'
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Floats
from querygate.methods.risk.record_space import PointRecords, Scale, Space

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles that are reported; the low ones are where copies show."""

CLOSE = 0.8
"""From here to 1, the ratio of middle distances is called slightly closer."""


@dataclass(frozen=True, slots=True)
class NearestDistances:
    """Of records to their nearest originals: quantiles of the distance (DCR) and of its ratio to the second (NNDR)."""

    records: int
    dcr: tuple[float, ...]  # at `SHARES`
    nndr: tuple[float, ...]

    @property
    def middle(self) -> float:
        """The median distance to the nearest."""
        return self.dcr[SHARES.index(0.5)]


@dataclass(frozen=True, slots=True)
class Nearness:
    """Synthetic records against originals, originals against each other, and records held out against originals.

    `equal` is the share of synthetic records that equal an original in all columns; `equal_others` the share of
    originals that equal another original, which is what chance and coarse values account for. `closer` is the share of
    synthetic records nearer to an original than the nearest 5 % of originals are to each other: about 0.05 where
    nothing is copied.
    """

    equal: float
    equal_others: float
    closer: float
    synthetic: NearestDistances
    original: NearestDistances
    holdout: NearestDistances | None = None

    @property
    def ratio(self) -> float | None:
        """The middle distance of synthetic records divided by that of records held out, or of originals without any."""
        against = (self.holdout or self.original).middle
        return self.synthetic.middle / against if against else None

    def to_dict(self) -> dict[str, JsonValue]:
        return {**to_json(self), "shares": list(SHARES), "ratio": self.ratio}


def nearness(
    original: PointRecords, synthetic: PointRecords, holdout: PointRecords | None = None, scale: Scale = "range"
) -> Nearness:
    """Measure synthetic records against the originals they were made from; `holdout` had no part in making them.

    Requires: three originals and one synthetic record. For large tables pass a random part of the synthetic records
    (and of those held out): some thousand give the quantiles.
    """
    if len(original) < 3 or not len(synthetic):
        raise ValueError("nearness needs three originals and a synthetic record")
    space = Space(original, scale)
    made = space.nearest(original, synthetic, 2).distance
    # The nearest original of an original is itself, or an equal one: either way the others begin at the second.
    among = space.nearest(original, original, 3).distance[:, 1:]
    kinds, others = original.kinds(synthetic)
    often = np.bincount(kinds)
    return Nearness(
        float(np.isin(others, kinds).mean()),
        float((often[kinds] > 1).mean()),
        float((made[:, 0] < np.quantile(among[:, 0], 0.05)).mean()),
        _distances(made),
        _distances(among),
        None if holdout is None else _distances(space.nearest(original, holdout, 2).distance),
    )


def _distances(found: Floats) -> NearestDistances:
    first, second = found[:, 0], found[:, 1]
    # Where two originals are at distance 0 none of them is singled out.
    ratio = np.divide(first, second, out=np.ones_like(first), where=second > 0)
    return NearestDistances(len(found), _quantiles(first), _quantiles(ratio))


def _quantiles(values: Floats) -> tuple[float, ...]:
    return tuple(np.quantile(values, SHARES).tolist())


def explain_nearness(found: Nearness) -> str:
    """One sentence for those who decide."""
    begin = f"{100 * found.equal:.1f} % of the {found.synthetic.records:,} synthetic records equal an original record"
    if found.ratio is None:
        return f"{begin}; most originals equal another one, so distances mean nothing."
    against = "between originals" if found.holdout is None else "of held-out persons"
    closer = "no closer" if found.ratio >= 1 else "slightly closer" if found.ratio >= CLOSE else "closer"
    others = "persons are to each other" if found.holdout is None else "held-out persons are"
    return (
        f"{begin}; the median distance to the nearest original is {found.ratio:.2g} times that {against}, so the "
        f"synthetic records are {closer} to persons than {others}."
    )
