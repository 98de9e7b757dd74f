"""Table 3 of Liu, Li, Motiwalla, Li, Zheng and Franklin (2015): Safe Harbor and the limited data set on one file.

Published: 180 patients of 84 ZIP codes in a state of the American north-east, 61 % women, 65 years old on average, by
sex, date of birth and ZIP code, against lists of voters and of a vendor. Neither list is public, so the figures here
are of a made state with as many ZIP codes and like sexes and ages. What must hold is what the paper concludes: at worst
a limited data set is certain, q understates r, and both are far above Safe Harbor. The published Q of 0.5344 calls for
1.4 other entries with the same sex, day of birth and ZIP code, more than voters of a usual ZIP code have; the last row
joins a second list, as the paper did, in which 6 of 10 people are found again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from querygate.methods.same_disease import InstanceRisk, Quasi, Study, limited_data_set, safe_harbor
from tests.report import row

ON = "2014-01-01"
COLUMNS = (Quasi("sex", "category"), Quasi("born", "birth", on=ON), Quasi("zip", "zip"))
PUBLISHED = {
    "Safe Harbor": (0.0376, 0.0473, 0.0020, 0.0043),
    "Limited Data Set": (1.0000, 1.0000, 0.5344, 0.6633),
}
FIGURES = ("greatest_match", "greatest_instance", "average_match", "average_instance")
SYMBOLS = ("max q", "max r", "Q", "R")
VOTERS, PATIENTS, AGAIN = 12_000, 180, 0.6


def state(seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """A made state: voters of 18 to 100 years in 84 ZIP codes of twelve areas, and which of them are the patients."""
    chance = np.random.default_rng(seed)
    sizes = np.maximum(chance.lognormal(np.log(VOTERS), 0.6, 84).astype(int), 800)
    zips = np.repeat([f"0{1000 + 100 * (at // 7) + at % 7}" for at in range(84)], sizes)
    age = np.clip(chance.normal(49, 18, zips.size), 18, 100)
    born = np.datetime64(ON) - (age * 365.25).astype(int).astype("timedelta64[D]")
    sex = chance.choice(["F", "M"], zips.size, p=[0.52, 0.48])
    weight = np.exp(-(((age - 65) / 12) ** 2)) * np.where(sex == "F", 0.61 / 0.52, 0.39 / 0.48)
    patients = chance.choice(zips.size, PATIENTS, replace=False, p=weight / weight.sum())
    return {"sex": sex, "born": born.astype("datetime64[D]"), "zip": zips}, patients


def figures(risk: InstanceRisk) -> tuple[float, ...]:
    return tuple(float(getattr(risk, name)) for name in FIGURES)


def rows() -> list[dict[str, Any]]:
    """One row per figure of the table, ours beside the published one; then the conclusions."""
    population, patients = state(3)
    study = Study.within(COLUMNS, population, patients)
    found = {"Safe Harbor": figures(safe_harbor(study).risk), "Limited Data Set": figures(limited_data_set(study).risk)}
    rows = []
    for name, ours in found.items():
        for symbol, mine, theirs in zip(SYMBOLS, ours, PUBLISHED[name], strict=True):
            rows.append(row(f"Liu 2015, table 3, {name}: {symbol}", mine, "", f"{theirs:.4f} published"))
    harbor, limited = found.values()
    holds = limited[0] == limited[1] == 1.0 and limited[2] <= limited[3] and harbor[2] <= harbor[3]
    rows.append(row("Liu 2015: certain at worst, and q below r", float(holds), "", "1", met=holds))
    times = limited[3] / harbor[3]
    rows.append(row("Liu 2015: R of a limited data set over Safe Harbor's", times, "x", "154 x", met=times > 10))
    again = np.random.default_rng(4).random(population["zip"].size) < AGAIN
    both = {name: np.concatenate([values, values[again]]) for name, values in population.items()}
    file = {name: values[patients] for name, values in population.items()}
    joined = limited_data_set(Study.of(COLUMNS, both, file)).risk.average_match
    rows.append(row("Liu 2015: Q of a limited data set, two lists joined", joined, "", "0.5344 published"))
    return rows
