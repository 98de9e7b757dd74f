"""Whether what a request wants can be had of the columns that there are: asked when it is drafted, and at the build.

>>> from querygate.core.extracts.extract_spec import ExtractSpec
>>> tolerances = {"corr(age, sbp)": 0.1, "mean(age)": 5}
>>> wish = ExtractSpec.of({"dataset": "trial", "purpose": "to see", "tolerances": tolerances})
>>> [(width.statistic, width.columns, width.limit) for width in widths_of(wish, {"age": "integer", "sbp": "number"})]
[('corr', ('age', 'sbp'), 0.1), ('mean', ('age',), 5.0)]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from querygate.core.extracts.extract_spec import ExtractSpec, invalid
from querygate.core.extracts.model_formula import check_columns, parse_formula
from querygate.core.extracts.noisy_question import check_noisy
from querygate.core.types import NUMERIC, Type

SHARES = ("significance", "sign", "outside")
"""Tolerances that are about models; every other one is the width of a range."""

Statistic = Literal["mean", "var", "sd", "median", "cov", "corr"]

_STATISTIC = re.compile(r"(mean|var|sd|median|cov|corr)\(([^(),]+)(?:,([^(),]+))?\)")


@dataclass(frozen=True, slots=True)
class WantedWidth:
    """How wide the range of a statistic of some columns may be."""

    statistic: Statistic
    columns: tuple[str, ...]
    limit: float


def check_wish(spec: ExtractSpec, types: Mapping[str, Type]) -> None:
    """ExtractRefused QG604 where a model or a tolerance is of a column that does not leave, or not of its type."""
    if spec.noisy:
        check_noisy(spec, types)
    for model in spec.models:
        check_columns(parse_formula(model), types)
    widths_of(spec, types)


def widths_of(spec: ExtractSpec, types: Mapping[str, Type]) -> tuple[WantedWidth, ...]:
    """The tolerances that are widths of ranges."""
    found = []
    for name, limit in spec.tolerances:
        if name in SHARES:
            if not spec.models:
                raise invalid("tolerances", f"{name} applies to models, but the request names none")
            continue
        match = _STATISTIC.fullmatch(name.replace(" ", ""))
        if match is None or spec.kind != "k-anonymous":
            accepted = (*SHARES, "mean(column)", "var(column)", "corr(column,column)")
            raise invalid("tolerances", f"{name} is not a tolerance that can be guaranteed", *accepted)
        columns = tuple(filter(None, match.groups()[1:]))
        for column in columns:
            if types.get(column) not in NUMERIC:
                raise invalid("tolerances", f"{column} is not a number column of this dataset")
        found.append(WantedWidth(cast(Statistic, match[1]), columns, limit))
    return tuple(found)
