"""Records of Adult and the people of Shelby County as files, and a policy over them: what custodians start from."""

from __future__ import annotations

import csv
import gzip
import itertools
from pathlib import Path

from tests.policies import make_policy, quasi, sensitive
from tests.unit.methods.policy_search.shelby import DATA, LATTICE, OF_ADULT, study

POLICY = make_policy(
    "adult",
    {
        "sex": quasi("category", values=["Female", "Male"]),
        "race": quasi("category", values=["White", "Black", "Asian", "Native"]),  # in the order they may be joined
        "age": quasi("integer", (0, 100), cuts=[18, 65]),
        "salary-class": sensitive("category"),
    },
    title="Adult",
)


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
