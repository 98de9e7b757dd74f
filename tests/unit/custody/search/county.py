"""Records of Adult and the people of Shelby County as files, and a policy over them: what custodians start from."""

from __future__ import annotations

import csv
import gzip
import itertools
from pathlib import Path

from tests.unit.methods.policy_search.shelby import DATA, LATTICE, OF_ADULT, study

POLICY = """
dataset = "adult"
title = "Adult"
k = 5

[columns.sex]
role = "quasi-identifier"
type = "category"
values = ["Female", "Male"]

# The order of values is the one in which they may be joined.
[columns.race]
role = "quasi-identifier"
type = "category"
values = ["White", "Black", "Asian", "Native"]

[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 100]
cuts = [18, 65]

[columns."salary-class"]
role = "sensitive"
type = "category"
"""


def write(folder: Path, rows: int = 2000, policy: str = POLICY) -> Path:
    """policy.toml, records.csv and county.csv in the folder; every so manieth record of Adult."""
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    with gzip.open(DATA / "adult_30162.csv.gz", "rt", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file, delimiter=";"))
    found = found[:: max(1, len(found) // rows)][:rows]
    with (folder / "records.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "race", "age", "salary-class"])
        writer.writerows([r["sex"], OF_ADULT[r["race"]], r["age"], r["salary-class"]] for r in found)
    with (folder / "county.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(attribute.name for attribute in LATTICE.attributes), "people"])
        people = study().population
        for place in itertools.product(*(range(size) for size in LATTICE.shape)):
            if people[place]:
                values = [attribute.values[at] for attribute, at in zip(LATTICE.attributes, place, strict=True)]
                writer.writerow([*values, int(people[place])])
    return folder
