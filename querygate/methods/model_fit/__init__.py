"""What an extract keeps for its recipient: the models are fitted before and after, and what changed is counted.

Pure: arrays in, figures out. Formulas are read here and never evaluated; lifelines and statsmodels fit the models.

>>> import numpy as np
>>> from querygate.core.extracts.extract_spec import RecipientModel
>>> model = RecipientModel.of("linear: sbp ~ age")
>>> age = np.arange(20.0)
>>> exact = {"age": age, "sbp": 120 + age + np.sin(age)}
>>> moved = exact | {"sbp": 120 - age + np.sin(age)}
>>> found = compare(fit(model, exact, {}), fit(model, moved, {}))
>>> found.significance, found.sign, found.outside
(0.0, 1.0, 1.0)
"""

from __future__ import annotations

from querygate.methods.model_fit.conditional_privacy import conditional_privacy
from querygate.methods.model_fit.design_matrix import Unfit, design
from querygate.methods.model_fit.fitter import INTERCEPT, LEVEL, Fit, fit
from querygate.methods.model_fit.model_comparison import ModelComparison, average, compare
from querygate.methods.model_fit.similarity import correlations_of, similarity

__all__ = [
    "INTERCEPT",
    "LEVEL",
    "design",
    "Fit",
    "Unfit",
    "fit",
    "ModelComparison",
    "compare",
    "average",
    "similarity",
    "correlations_of",
    "conditional_privacy",
]
