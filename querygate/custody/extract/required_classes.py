"""The independent check of release.require: guarantees for sensitive columns, counted on what is released.

Records that look alike in the extract are a class, whatever the search or the cells say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from querygate.core.errors import ExtractRefused
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.policy import Policy
from querygate.custody.policy.release_requirements import Requirement, read_requirement
from querygate.custody.verify.diversity_check import GuaranteeCheck

Classes = Mapping[Hashable, Counter[str | None]]


def check_required(texts: Iterable[str], protected: ProtectedRecords, policy: Policy) -> tuple[GuaranteeCheck, ...]:
    """Every requirement with its measured figure; ExtractRefused QG605 if one is broken."""
    kept = []
    for text in texts:
        required = read_requirement(text, policy.columns)
        if required is None:  # the column was not requested: nobody learns anything about it
            continue
        classes = _classes(protected, policy, required.column)
        figure = round(_figure(required, classes), 9)
        if not required.allows(figure):
            raise ExtractRefused(
                "QG605",
                f"The extract does not keep {required}: {figure:.4g} was measured on the extract.",
                "Publish with a coarser policy (`querygate policy search --require` finds some), or select other "
                "records.",
            )
        kept.append(GuaranteeCheck(str(required), f"{required.measure} of {required.column}", figure, True))
    return tuple(kept)


def _classes(protected: ProtectedRecords, policy: Policy, column: str) -> Classes:
    quasi = {one.name for one in policy.named("quasi-identifier")}
    seen = [protected.table[field.name].to_pylist() for field in protected.fields if field.of in quasi]
    values = protected.table[column].to_pylist() if column in protected.table.column_names else []
    found: dict[Hashable, Counter[str | None]] = defaultdict(Counter)
    for key, value in zip(zip(*seen, strict=True) if seen else [()] * len(values), values, strict=True):
        found[key][None if value is None else str(value)] += 1
    return found


def _figure(required: Requirement, classes: Classes) -> float:
    """The figure of the worst class."""
    whole: Counter[str | None] = sum(classes.values(), Counter())
    everybody = max(1, whole.total())
    figures = []
    for held in classes.values():
        size = held.total()
        match required.measure:
            case "l-diversity":
                figures.append(float(len(held)))
            case "entropy":
                figures.append(float(np.exp(-sum(n / size * np.log(n / size) for n in held.values()))))
            case "alpha":
                figures.append(max(held.values()) / size)
            case "growth":
                figures.append(max(n / size - whole[value] / everybody for value, n in held.items()))
            case "t-closeness":
                figures.append(sum(abs(held[value] / size - n / everybody) for value, n in whole.items()) / 2)
    return (min if required.measure in ("l-diversity", "entropy") else max)(figures, default=0.0)
