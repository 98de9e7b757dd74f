"""Fit a recipient's model: Cox (lifelines, ties by Efron), linear and logistic (statsmodels).

>>> from querygate.core.extracts.extract_spec import RecipientModel
>>> found = fit(RecipientModel.of("linear: y ~ x"), {"x": np.arange(9.0), "y": np.arange(9.0) ** 2}, {})
>>> found.terms, found.coefficients.round(6).tolist()
(('(Intercept)', 'x'), [-9.333333, 8.0])
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import Family, RecipientModel
from querygate.core.extracts.model_formula import parse_formula
from querygate.core.types import Floats
from querygate.methods.model_fit.design_matrix import Columns, DesignMatrix, Levels, Unfit, design

if TYPE_CHECKING:
    import pandas
    from lifelines import CoxPHFitter

INTERCEPT = "(Intercept)"
LEVEL = 0.05
"""Coefficients are significant below it; their intervals cover 1 - LEVEL."""

STEPS = (0.95, 0.5, 0.1)
"""Shares of a Newton step that are tried; the first is that of lifelines."""

LARGEST_EFFECT = 10.0
"""Where one standard deviation of a term multiplies odds or hazard by more than e^10, or could by one standard error,
the estimate was stopped on its way to infinity: in some group everybody, or nobody, has the event."""


@dataclass(frozen=True)
class Fit:
    """Coefficients with standard errors, the ends of their 95 % intervals and p-values."""

    terms: tuple[str, ...]
    coefficients: Floats
    errors: Floats
    low: Floats
    high: Floats
    p: Floats
    family: Family
    records: int
    left_out: int = 0


def fit(model: RecipientModel, columns: Columns, levels: Levels) -> Fit:
    """Fit the model to the records that have every value it needs.

    Raises Unfit where it has no solution, or none was found.
    """
    formula = parse_formula(model)
    made = design(formula, columns, levels)
    _check_estimable(made)
    with _libraries():
        return _FITTERS[formula.family](made)


def _cox(made: DesignMatrix) -> Fit:
    import pandas

    frame = pandas.DataFrame(made.matrix, columns=[f"x{place}" for place in range(len(made.names))])
    frame["time"], frame["event"] = made.response, made.status
    found = _largest_likelihood(frame)
    coefficients, errors = found.params_.to_numpy(dtype=float), found.standard_errors_.to_numpy(dtype=float)
    return _by_normal("cox", made, made.names, coefficients, errors)


def _largest_likelihood(frame: pandas.DataFrame) -> CoxPHFitter:
    """The likelihood is concave, yet a full step of Newton's from a far start can overshoot: then shorter ones."""
    from lifelines import CoxPHFitter
    from lifelines.exceptions import ConvergenceError

    for step in STEPS:
        with suppress(ConvergenceError, np.linalg.LinAlgError):
            return CoxPHFitter().fit(frame, "time", "event", fit_options={"step_size": step})
    raise Unfit("the fit did not converge")


def _logistic(made: DesignMatrix) -> Fit:
    from statsmodels.api import Logit
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    try:
        found = Logit(made.response, _with_intercept(made)).fit(disp=0, maxiter=100)
    except (PerfectSeparationError, np.linalg.LinAlgError) as error:
        raise Unfit("the fit did not converge") from error
    if not found.mle_retvals["converged"]:
        raise Unfit("the fit did not converge")
    return _by_normal("logistic", made, (INTERCEPT, *made.names), found.params, found.bse)


def _linear(made: DesignMatrix) -> Fit:
    from statsmodels.api import OLS

    found = OLS(made.response, _with_intercept(made)).fit()
    low, high = found.conf_int(LEVEL).T
    names = (INTERCEPT, *made.names)
    return Fit(names, found.params, found.bse, low, high, found.pvalues, "linear", len(made.matrix), made.left_out)


_FITTERS = {"cox": _cox, "logistic": _logistic, "linear": _linear}


def _by_normal(family: Family, made: DesignMatrix, names: tuple[str, ...], coefficients: Floats, errors: Floats) -> Fit:
    """Intervals and p-values by Wald, as both libraries print them."""
    own, spans = slice(len(names) - len(made.names), None), made.matrix.std(axis=0)
    effects = np.abs([coefficients[own] * spans, errors[own] * spans])
    if not (effects <= LARGEST_EFFECT).all():
        raise Unfit("the fit did not converge")
    reach = float(-ndtri(LEVEL / 2)) * errors
    p = 2 * ndtr(-np.abs(coefficients / errors))
    low, high = coefficients - reach, coefficients + reach
    return Fit(names, coefficients, errors, low, high, p, family, len(made.matrix), made.left_out)


def _with_intercept(made: DesignMatrix) -> Floats:
    return np.column_stack([np.ones(len(made.matrix)), made.matrix])


def _check_estimable(made: DesignMatrix) -> None:
    """More records than coefficients, none of which the others determine, and a response that varies."""
    records, wanted = made.matrix.shape
    if records <= wanted + 1:
        raise Unfit(f"{records} records are too few for {wanted} coefficients")
    if made.status is not None and not made.status.any():
        raise Unfit("nobody has the event")
    if made.status is not None and made.response.min() < 0:
        raise Unfit("a time is negative")
    if np.ptp(made.response) == 0:
        raise Unfit("the response has only one value")
    constant = [name for name, spread in zip(made.names, np.ptp(made.matrix, axis=0), strict=True) if spread == 0]
    if constant:
        raise Unfit(f"{constant[0]} does not vary")
    scaled = (made.matrix - made.matrix.mean(axis=0)) / made.matrix.std(axis=0)
    if np.linalg.matrix_rank(scaled) < wanted:
        raise Unfit("a term is determined by the other terms")


@contextmanager
def _libraries() -> Iterator[None]:
    """Lend lifelines and statsmodels a place where their warnings stay; what they warn of is checked here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            yield
        except ImportError as error:
            raise ExtractRefused(
                "QG605",
                "Models cannot be fitted: lifelines and statsmodels are not installed.",
                "Ask the custodian to install querygate[extracts].",
            ) from error
