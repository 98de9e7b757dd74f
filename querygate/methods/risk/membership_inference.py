"""Can somebody who sees the synthetic data tell whether a person was in the original?

The attacker has a person's record, looks for the nearest synthetic one, and says "was in" when it is near (Hilprecht et
al., "Monte Carlo and reconstruction membership inference attacks against generative models", PoPETs 2019; Chen et al.,
"GAN-Leaks", CCS 2020). How often he is right is measured on persons who were in (members) and persons of the same
population who were not (held out when the synthetic records were made). Without somebody held out nothing can be
measured.

- AUC: the chance that a member is nearer than somebody held out, a tie being half; 0.5 is guessing.
- Advantage: the greatest difference, over thresholds, of members and of others called members (Yeom et al., "Privacy
  risk in machine learning", CSF 2018); 0 is guessing, 1 is knowing.
- Found at few false alarms: the share of members called members where 1 % of others are (Carlini et al., "Membership
  inference attacks from first principles", IEEE S&P 2022). An average hides the few who are betrayed; this shows them.

Bounds hold for any distribution and any size. For m members and n others, with probability 1 - delta each: the AUC is
within sqrt(ln(2/delta) / (2 min(m, n))) (Hoeffding, JASA 1963, section 5: it is the mean, over all pairings, of means
of min(m, n) independent pairs); the advantage within sqrt(ln(4/delta)/(2m)) + sqrt(ln(4/delta)/(2n)) (the inequality of
Dvoretzky, Kiefer and Wolfowitz with Massart's constant, 1990, for both distribution functions). Whether it could be
chance alone is tested by ranks (Mann and Whitney 1947), which is sharper than these bounds.

It is one attacker, the simplest. One who knows how the records were made may do better; none found is no proof.

>>> import numpy as np
>>> found = guessing(members=np.zeros(500), others=np.linspace(0.1, 1, 500))
>>> found.auc, found.advantage, found.auc_low > 0.9, found.is_better_than_chance
(1.0, 1.0, True, True)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its stats are slow to import, and come where they are used

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Floats
from querygate.methods.risk.record_space import PointRecords, Scale, Space

CONFIDENCE = 0.95
FALSE_ALARMS = 0.01


@dataclass(frozen=True, slots=True)
class MembershipInference:
    """How well members can be distinguished from others. Bounds hold with `confidence`, each on its own."""

    members: int
    others: int
    confidence: float
    auc: float
    auc_low: float
    auc_high: float
    advantage: float
    advantage_low: float
    advantage_high: float
    found: float  # share of members called members at `FALSE_ALARMS`
    chance: float  # the probability of such an AUC or a higher one by guessing

    @property
    def is_better_than_chance(self) -> bool:
        return self.chance < 1 - self.confidence

    def to_dict(self) -> dict[str, JsonValue]:
        return {**to_json(self), "is_better_than_chance": self.is_better_than_chance}


def membership(
    members: PointRecords,
    others: PointRecords,
    synthetic: PointRecords,
    scale: Scale = "range",
    confidence: float = CONFIDENCE,
) -> MembershipInference:
    """Attack synthetic records made from `members` and not from `others`, who are of the same population.

    Distances are scaled by the synthetic records, which is all that the attacker sees of the data.
    """
    space = Space(synthetic, scale)
    near, far = (space.nearest(synthetic, persons, 1).distance for persons in (members, others))
    if not (near.size and far.size):
        raise ValueError("there are members, others and synthetic records")
    return guessing(near[:, 0], far[:, 0], confidence)


def guessing(members: Floats, others: Floats, confidence: float = CONFIDENCE) -> MembershipInference:
    """Of distances of members and of others to the nearest synthetic record: the nearer is called a member.

    Any score may be given that is small for those whom an attacker calls members.
    """
    m, n = members.size, others.size
    test = scipy.stats.mannwhitneyu(members, others, alternative="less", method="asymptotic") if m and n else None
    if test is None:
        raise ValueError("there are members and others")
    auc = 1 - float(test.statistic) / (m * n)
    at = np.unique(np.concatenate([members, others]))
    called = np.searchsorted(np.sort(members), at, side="right") / m
    wrongly = np.searchsorted(np.sort(others), at, side="right") / n
    advantage = max(0.0, float((called - wrongly).max()))
    delta = 1 - confidence
    around = float(np.sqrt(np.log(2 / delta) / (2 * min(m, n))))
    off = float(np.sqrt(np.log(4 / delta) / (2 * m)) + np.sqrt(np.log(4 / delta) / (2 * n)))
    chance = float(test.pvalue)
    return MembershipInference(
        m,
        n,
        confidence,
        auc,
        max(0.0, auc - around),
        min(1.0, auc + around),
        advantage,
        max(0.0, advantage - off),
        min(1.0, advantage + off),
        float(called[wrongly <= FALSE_ALARMS].max(initial=0.0)),
        chance if np.isfinite(chance) else 1.0,
    )


def explain_membership(found: MembershipInference) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> explain_membership(guessing(np.arange(400.0), np.arange(400.0)))
    'Somebody who sees the synthetic data can tell whether a person is in it no better than guessing: right for 50.0 % \
of pairs (43.2 % to 56.8 % with 95 % confidence; 400 persons in it, 400 not).'
    """
    better = "no better than guessing"
    if found.is_better_than_chance:
        better = "better than guessing" if found.auc_low > 0.5 else "perhaps a little better than guessing"
    return (
        f"Somebody who sees the synthetic data can tell whether a person is in it {better}: right for "
        f"{100 * found.auc:.1f} % of pairs ({100 * found.auc_low:.1f} % to {100 * found.auc_high:.1f} % with "
        f"{100 * found.confidence:.0f} % confidence; {found.members:,} persons in it, {found.others:,} not)."
    )
