"""Populations whose uniqueness is known, and samples of them.

`python -m tests.unit.methods.risk.populations` prints, for each of them and for several fractions, the median over 25
samples of the estimates of population uniqueness divided by the truth: Zayatz, Pitman, SNB, and what the rule chooses,
with the range of nine in ten of the latter.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.risk import population_uniqueness, sample_uniqueness

FRACTIONS = (0.01, 0.05, 0.099, 0.12, 0.2, 0.5, 0.8)
SAMPLES = 25


def drawn(people: Ints, fraction: float, chance: np.random.Generator) -> Ints:
    """Sizes of the classes of a simple random sample of a population with classes of these sizes."""
    persons = np.repeat(np.arange(people.size), people)
    sample = chance.choice(persons, round(persons.size * fraction), replace=False)
    return np.unique(sample, return_counts=True)[1].astype(np.int64)


def slide_negative_binomial(chance: np.random.Generator) -> Ints:
    return (1 + chance.negative_binomial(0.5, 0.15, 10_000)).astype(np.int64)


def ewens_pitman(chance: np.random.Generator, theta: float = 50.0, alpha: float = 0.6, people: int = 30_000) -> Ints:
    """By the definition: the next founds a class, or joins somebody's with a chance that alpha lessens."""
    label, sizes = np.empty(people, dtype=np.int64), list[int]()
    for i in range(people):
        if chance.random() < (theta + alpha * len(sizes)) / (theta + i):
            label[i] = len(sizes)
            sizes.append(1)
            continue
        join = int(label[chance.integers(0, i)])
        while chance.random() < alpha / sizes[join]:
            join = int(label[chance.integers(0, i)])
        label[i] = join
        sizes[join] += 1
    return np.array(sizes)


def survey(chance: np.random.Generator) -> Ints:
    """People by age, a place of uneven size, sex and a category: made by no model that is fitted."""
    people = 60_000
    place = np.minimum(chance.geometric(0.02, people), 300)
    ethnic = chance.choice(5, people, p=[0.7, 0.15, 0.1, 0.03, 0.02])
    key = ((chance.integers(0, 90, people) * 400 + place) * 2 + chance.integers(0, 2, people)) * 5 + ethnic
    sizes: Ints = np.unique(key, return_counts=True)[1].astype(np.int64)
    return sizes


def log_normal(chance: np.random.Generator) -> Ints:
    return np.ceil(chance.lognormal(1.0, 1.3, 15_000)).astype(np.int64)


def main() -> None:
    for seed, make in enumerate((slide_negative_binomial, ewens_pitman, survey, log_normal), 1):
        population = make(np.random.default_rng(seed))
        people, true = int(population.sum()), sample_uniqueness(population)
        print(f"{make.__name__}: {people:,} people, {true:.1%} alone")
        for fraction in FRACTIONS:
            samples = [drawn(population, fraction, np.random.default_rng(again)) for again in range(SAMPLES)]
            found = [population_uniqueness(sizes, people) for sizes in samples]
            shares = [[one.share for one in (*each.estimates, each.chosen)] for each in found]
            ratio = np.array(shares, dtype=np.float64) / true
            low, high = np.nanquantile(ratio[:, 3], [0.05, 0.95])
            print(
                f"{fraction:6}", *(f"{value:6.2f}" for value in np.nanmedian(ratio, axis=0)), f"[{low:.2f} {high:.2f}]"
            )


if __name__ == "__main__":
    main()
