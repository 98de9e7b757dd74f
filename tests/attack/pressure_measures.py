"""How much the attackers know in the end, and whether one of them knows more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats
from tests.attack.pressed_survey import BIN, HIGH, LOW, Ask, Known, People
from tests.attack.pressure import Attack

NEAR = 5
"""A pressure is guessed right within so many mmHg."""

DRAWS = 2_000
ONE_IN_A_HUNDRED = 2.326
"""Standard errors that chance exceeds once in a hundred times, one-sided."""


def press(people: People, targets: Sequence[int], ask: Ask, budget: int, seed: int) -> list[Known]:
    """Attack each target with as many statements as the budget has."""
    return [
        Attack(people, ask, target, budget, np.random.default_rng((seed, i))).run() for i, target in enumerate(targets)
    ]


@dataclass(frozen=True)
class Figures:
    """One attacker on the targets. Guesses of pressures and widths are of targets that are in the survey."""

    near: Bools  # was the pressure guessed within NEAR?
    width: Floats  # of the interval that is proved for it
    proved: int  # targets of whom it is proved whether they are in the survey
    inside: Bools
    score: Floats  # the share of those who could be meant that are in the survey
    trained: Floats  # the score of a classifier that was told about the other half of the targets

    @property
    def auc(self) -> float:
        return max(area(self.score, self.inside), area(self.trained, self.inside))

    @property
    def accuracy(self) -> float:
        """Of whom half must be in the survey, those with the higher scores are said to be."""
        half = len(self.inside) / 2
        ranks = [np.argsort(np.argsort(score, kind="stable")) for score in (self.score, self.trained)]
        return max(float(np.mean((rank >= half) == self.inside)) for rank in ranks)


def figures(people: People, targets: Sequence[int], known: Sequence[Known]) -> Figures:
    inside = people.inside[targets]
    members = [(target, one) for target, one in zip(targets, known, strict=True) if people.inside[target]]
    features = np.array([one.features for one in known])
    return Figures(
        np.array([abs(guess(one) - people.sbp[target]) <= NEAR for target, one in members]),
        np.array([one.high - one.low for _, one in members]),
        sum(one.inside is not None for one in known),
        inside,
        features[:, 0],
        train(features, inside),
    )


def guess(known: Known) -> float:
    """The value around which most of the weight lies, within what is proved."""
    weights = known.weights if known.weights.any() else np.ones_like(known.weights)
    values = np.arange(LOW, HIGH + 1)
    chance = weights[values // BIN] * ((values >= known.low - 0.5) & (values <= known.high + 0.5))
    if not chance.any():
        return (known.low + known.high) / 2
    near = np.convolve(chance, np.ones(2 * NEAR + 1), mode="same")
    best = np.flatnonzero(near >= near.max() - 1e-9)
    return float(values[best[len(best) // 2]])


def area(score: Floats, inside: Bools) -> float:
    """The area under the ROC curve: how often somebody inside has the higher score."""
    ours, theirs = score[inside][:, None], score[~inside][None, :]
    return float(np.mean((ours > theirs) + 0.5 * (ours == theirs)))


def train(features: Floats, inside: Bools) -> Floats:
    """Scores by logistic regression with a small penalty, each half of the targets by what the other half taught."""
    scale = features.std(axis=0)
    scaled = np.hstack(
        [(features - features.mean(axis=0)) / np.where(scale > 0, scale, 1), np.ones((len(features), 1))]
    )
    score = np.zeros(len(features))
    for turn in (0, 1):
        mine = np.arange(len(features)) % 2 == turn
        x, y, w = scaled[~mine], inside[~mine].astype(np.float64), np.zeros(scaled.shape[1])
        for _ in range(20):
            p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
            hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(w))
            w -= np.linalg.solve(hessian, x.T @ (p - y) + w)
        score[mine] = scaled[mine] @ w
    return score


def advantage_at_values(one: Figures, other: Figures) -> tuple[float, float]:
    """How many more of the pressures `one` guesses, and by how much that must exceed 0 to be more than chance."""
    gain = one.near.astype(np.float64) - other.near
    return float(gain.mean()), float(ONE_IN_A_HUNDRED * max(gain.std(), 1e-9) / len(gain) ** 0.5)


def advantage_at_membership(one: Figures, other: Figures, seed: int) -> tuple[float, float]:
    """The same for areas under the curve, by drawing targets again and again."""
    rng = np.random.default_rng(seed)
    found = one.auc - other.auc
    differences = []
    for _ in range(DRAWS):
        drawn = np.concatenate(
            [rng.choice(np.flatnonzero(one.inside == side), int((one.inside == side).sum())) for side in (True, False)]
        )
        best = [
            max(area(f.score[drawn], f.inside[drawn]), area(f.trained[drawn], f.inside[drawn])) for f in (one, other)
        ]
        differences.append(best[0] - best[1])
    return found, float(ONE_IN_A_HUNDRED * np.std(differences))


def more_than_published(
    people: People, targets: Sequence[int], asking: Sequence[Known], reading: Sequence[Known]
) -> list[str]:
    """What the one who asks has proved and the one who reads the classes has not."""
    more = []
    for target, one, other in zip(targets, asking, reading, strict=True):
        if one.inside is not None and other.inside is None:
            more.append(f"{target}: {'in' if one.inside else 'not in'} the survey")
        if people.inside[target] and (one.low > other.low + 1e-6 or one.high < other.high - 1e-6):
            more.append(f"{target}: {one.low} .. {one.high}, published {other.low} .. {other.high}")
    return more
