"""Random tables of covariate patterns with ranges around them, and what statistical software makes of a table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import statsmodels.api as sm
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

from querygate.stats.models.coefficient_table import Figure, Scatter, regression_figures
from querygate.stats.models.logistic_and_poisson import (
    IDENTITY,
    LOGISTIC,
    POISSON,
    POISSON_SHARES,
    GroupedCounts,
    Link,
    find_root,
)  # fmt: skip
from querygate.stats.models.verified_numbers import Intervals

LINKS: dict[str, Link] = {"logistic": LOGISTIC, "poisson": POISSON, "shares": POISSON_SHARES, "linear": IDENTITY}


@dataclass(frozen=True)
class TableCase:
    """One table of real counts with its ranges; of linear models the values of each pattern."""

    family: str
    design: np.ndarray
    events: np.ndarray
    others: np.ndarray
    slack: tuple[np.ndarray, np.ndarray]
    values: tuple[np.ndarray, ...] = ()

    @property
    def exact(self) -> bool:
        return not any(part.any() for part in self.slack)

    def figures(self) -> list[dict[str, Figure]] | str | None:
        """The ranges; a text or None where there are none."""
        below, above = (
            (
                np.maximum(part - width, 0.0) if self.family != "linear" else part - width
                for part, width in zip((self.events, self.others), self.slack, strict=True)
            ),
            (part + width for part, width in zip((self.events, self.others), self.slack, strict=True)),
        )
        (events_low, others_low), (events_high, others_high) = below, above
        events = Intervals(events_low, events_high)
        others = Intervals(np.maximum(others_low, 0.0), others_high)
        scatter, means = None, None
        if self.family == "linear":
            spread = np.array([float(((v - v.mean()) ** 2).sum()) if v.size else 0.0 for v in self.values])
            middle = np.array([float(v.mean()) if v.size else 0.0 for v in self.values])
            means = Intervals(middle, middle).wider(1e-9 + (self.slack[0] > 0) * 1.0)
            scatter = Scatter(Intervals(spread, spread).wider(1e-9 * (1 + spread)).at_least(0.0), means, spread)
        table = GroupedCounts(self.design, events, others, LINKS[self.family], means)
        root = find_root(table)
        if isinstance(root, str):
            return root
        likely = (self.events, self.events + self.others if table.link.shares else self.others)
        return regression_figures(table, root, likely, exact=self.exact, scatter=scatter)

    def truth(self) -> Any:
        """The fit of the table itself to records written out one by one; None where the software gives up."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return self._fit()
            except (PerfectSeparationWarning, np.linalg.LinAlgError, Warning):
                return None

    def _fit(self) -> Any:
        if self.family == "linear":
            rows = np.repeat(self.design, [v.size for v in self.values], axis=0)
            return sm.OLS(np.concatenate(self.values), rows).fit()
        if self.family == "poisson":
            keep = self.others > 0
            offset = np.log(self.others[keep])
            poisson = sm.families.Poisson()
            return _to_the_end(sm.GLM(self.events[keep], self.design[keep], family=poisson, offset=offset))
        rows = np.repeat(np.repeat(self.design, 2, axis=0), self._counts, axis=0)
        outcome = np.repeat(np.tile([1.0, 0.0], len(self.design)), self._counts)
        family = sm.families.Binomial() if self.family == "logistic" else sm.families.Poisson()
        return _to_the_end(sm.GLM(outcome, rows, family=family))

    @property
    def _counts(self) -> np.ndarray:
        return np.stack([self.events, self.others], axis=1).ravel().astype(int)


def _to_the_end(model: Any) -> Any:
    """Reweighted least squares leave standard errors one step behind; Newton's method ends where it stands."""
    begun = model.fit(tol=1e-14, maxiter=200)
    return model.fit(method="newton", start_params=begun.params, tol=1e-14, disp=False)


def make_case(random: np.random.Generator, family: str, wide: bool) -> TableCase:
    """A design of categories, sometimes with a number; counts from none to hundreds, and ranges around some of them."""
    levels = [int(random.integers(2, 4)) for _ in range(int(random.integers(1, 4)))]
    grid = np.array(np.meshgrid(*(np.arange(n) for n in levels), indexing="ij")).reshape(len(levels), -1)
    columns = [np.ones(grid.shape[1])]
    for place, n in enumerate(levels):
        if random.random() < 0.2:
            columns.append(grid[place].astype(float) * random.choice([1.0, 10.0]))
        else:
            columns += [(grid[place] == level).astype(float) for level in range(1, n)]
    design = np.stack(columns, axis=1)
    size, most = design.shape[0], int(random.choice([4, 30, 400]))
    events, others = (random.integers(0, most + 1, size).astype(float) for _ in range(2))
    slack = [np.zeros(size), np.zeros(size)]
    if wide:
        slack = [random.integers(0, 1 + most // 10, size) * (random.random(size) < 0.5) * 1.0 for _ in range(2)]
    values: tuple[np.ndarray, ...] = ()
    if family == "linear":
        values = tuple(
            np.round(random.normal(size=int(n)) * random.choice([0.0, 1.0, 50.0]) + random.integers(-5, 100))
            for n in random.integers(0, most + 1, size)
        )
        events, others = np.array([v.sum() for v in values]), np.array([float(v.size) for v in values])
        slack[1] = slack[1] * 0
    if family == "poisson":
        others = others * random.choice([1.0, 0.25])
        events = events * (others > 0)
        slack[0] = slack[0] * (others > 0)
    return TableCase(family, design, events, others, (slack[0], slack[1]), values)


def misses(case: TableCase) -> list[str] | None:
    """Figures of the truth that are outside their ranges; None where there are no ranges or no truth."""
    found = case.figures()
    if not isinstance(found, list):
        return None
    fitted = case.truth()
    if fitted is None:
        return None
    limits = np.asarray(fitted.conf_int())
    truths = {"coefficient": fitted.params, "standard_error": fitted.bse, "low95": limits[:, 0], "high95": limits[:, 1]}
    truths["p_value"] = fitted.pvalues
    if case.family != "linear":
        truths |= {
            "ratio": np.exp(fitted.params), "ratio_low95": np.exp(limits[:, 0]), "ratio_high95": np.exp(limits[:, 1])
        }  # fmt: skip
    return [
        f"{name}[{k}]: {value} not in {figure.range}"
        for name, values in truths.items()
        for k, value in enumerate(values)
        for figure in [found[k][name]]
        if not float(figure.range.low or 0.0) <= value <= float(figure.range.high or 0.0)
    ]
