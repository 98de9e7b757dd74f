"""Is somebody whose alleles are known among those whose frequencies were released?

Two attackers compare a person with the pool that was released and with the population it is from. Homer et al.
("Resolving individuals contributing trace amounts of DNA to highly complex mixtures", PLoS Genetics 4, e1000167, 2008)
average over sites how much closer the person is to the pool, and divide by the standard error. Sankararaman, Obozinski,
Jordan and Halperin ("Genomic privacy and limits of individual detection in a pool", Nature Genetics 41, 2009) take the
likelihood ratio, which no other test on these frequencies exceeds where sites are independent. `power` measures either;
`most_power` says what the second can reach.

Shares are of alleles other than the site's common base: of persons 0, 1/2 or 1 (NaN: not known), of pool and population
anything between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from querygate.core.types import Floats, Ints

LEVEL = 0.05
"""The share of people outside the pool whom an attacker accepts to take for members."""

_NORMAL = NormalDist()

MembershipTest: TypeAlias = Callable[[Floats, Floats, Floats], Floats]


def homer(persons: Floats, pool: Floats, population: Floats) -> Floats:
    """The t statistic of D = |y - population| - |y - pool| over sites, one for each person; higher is likelier in.

    >>> pool, population = np.array([0.1, 0.7, 0.5, 0.4]), np.array([0.3, 0.6, 0.4, 0.3])
    >>> homer(np.array([[0.0, 1.0, 0.5, 0.0]]), pool, population).round(4)
    array([1.1921])
    """
    found = np.abs(persons - population) - np.abs(persons - pool)
    there = ~np.isnan(found)
    sites = np.maximum(there.sum(axis=1), 1)
    found = np.where(there, found, 0.0)
    mean = found.sum(axis=1) / sites
    spread = np.where(there, (found - mean[:, None]) ** 2, 0.0).sum(axis=1) / np.maximum(sites - 1, 1)
    error = np.sqrt(spread / sites)
    scores: Floats = np.divide(mean, error, out=np.zeros_like(mean), where=error > 0)
    return scores


def likelihood_ratio(persons: Floats, pool: Floats, population: Floats) -> Floats:
    """The logarithm of how much likelier the alleles are in the pool than in the population, one for each person.

    >>> likelihood_ratio(np.array([[0.0, 1.0], [1.0, np.nan]]), np.array([0.2, 0.5]), np.array([0.4, 0.25])).round(4)
    array([ 0.9808, -0.6931])
    """
    pool, population = (np.clip(one, LEAST, 1 - LEAST) for one in (pool, population))
    has, lacks = np.log(pool / population), np.log((1 - pool) / (1 - population))
    scores: Floats = np.nansum(persons * has + (1 - persons) * lacks, axis=1)
    return scores


LEAST = 1e-4
"""No frequency is taken to be nearer to 0 or 1."""

TESTS: dict[str, MembershipTest] = {"homer": homer, "likelihood ratio": likelihood_ratio}


def power(members: Floats, outsiders: Floats, level: float = LEVEL) -> float:
    """The share of members above the threshold that another outsider exceeds with a probability of at most `level`.

    >>> power(np.array([3.0, 2.0, 0.5, 4.0]), np.array([1.0, 2.0, 0.0, -1.0]), 0.25)
    0.5
    """
    above = math.floor(level * (outsiders.size + 1))
    if not above:
        return 0.0
    threshold = np.sort(outsiders)[-above]
    return float((members > threshold).mean())


def most_power(known: Ints, level: float = LEVEL) -> float:
    """The power of the likelihood ratio where the frequencies of the population are known exactly and sites are
    independent: members and outsiders are sqrt(sum of 1/n) standard deviations apart, n people at each site.

    >>> round(most_power(np.full(1000, 1000)), 4), round(most_power(np.full(0, 1)), 4)
    (0.2595, 0.05)
    """
    apart = math.sqrt(float((1 / known).sum()))
    return _NORMAL.cdf(apart - _NORMAL.inv_cdf(1 - level))


def sites_within(bound: float, people: int, level: float = LEVEL) -> int:
    """How many sites, with as many people each, keep that power within a bound.

    >>> sites_within(0.1, 1000), sites_within(0.05, 1000)
    (131, 0)
    """
    apart = max(0.0, _NORMAL.inv_cdf(bound) + _NORMAL.inv_cdf(1 - level))
    return math.floor(people * apart**2)
