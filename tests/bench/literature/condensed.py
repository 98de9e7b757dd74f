"""Ways to condense beside each other: what a Cox model loses, and how open ages stay.

Gal, Tucker, Gangopadhyay and Chen (2014) find their improved condensation at the top; R-microhybrid (Domingo-Ferrer &
González-Nicolás 2010) and microperturbation (Li & Sarkar 2013) are named beside it without common figures. The patients
are others (rotterdam, colon; K = 20, five repetitions).
"""

from __future__ import annotations

from typing import Any

from querygate.methods.model_fit import fit
from tests.bench.extracts import Case, levels, measure_way, original
from tests.bench.literature import figure

WAYS = ("improved", "condensation", "tfrp", "mdav", "r-microhybrid", "microperturbation")
REPEATS = 5


def rows() -> list[dict[str, Any]]:
    found = []
    for study in ("rotterdam", "colon"):
        case = Case(study, 20, "cox")
        columns = original(case)
        before = fit(case.model, columns, levels(columns))
        for way in WAYS:
            outcome = measure_way(case, way, before, REPEATS)
            name = f"{study}, Cox, K = 20, {way}"
            found.append(figure(f"{name}: significance changed", 100 * outcome.compared.significance, "%", "an order"))
            found.append(figure(f"{name}: outside the interval", 100 * outcome.compared.outside, "%", "an order"))
            found.append(figure(f"{name}: years an age is open", outcome.privacy, "years", "an order"))
    return found
