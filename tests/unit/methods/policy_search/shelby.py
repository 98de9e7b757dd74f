"""Adult records laid over the people of Shelby County, Tennessee: sex x race x age.

Races are the four of the county's table (bridged: everybody is given one of four). Adult's `Other` has no row there;
most people of some other race are bridged to White, and so are these 231 records. The county's last age is 85 and over;
its people are given to the single ages 85 to 99, and 100 and over, by the shares of the United States in the same year,
by sex and for all races alike (largest remainder). Adult's last age is 90, which it means as 90 and over: these 35
records are laid over people of exactly 90, so without Safe Harbor they count as riskier than they are.
"""

from __future__ import annotations

import csv
import gzip
from functools import cache

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.policy_search import LatticeAttribute, LatticeCubes, PolicyLattice, cube, whole_numbers
from tests.places import DATA

OPEN = 85
RACES = ("White", "Black", "Asian", "Native")
OF_COUNTY = {
    "White": "White",
    "Black/African American": "Black",
    "Asian/Pacific Islander": "Asian",
    "American Indian/Alaskan Native": "Native",
}
OF_ADULT = {
    "White": "White",
    "Other": "White",
    "Black": "Black",
    "Asian-Pac-Islander": "Asian",
    "Amer-Indian-Eskimo": "Native",
}
LATTICE = PolicyLattice(
    (
        LatticeAttribute("sex", ("Female", "Male")),
        LatticeAttribute("race", RACES),
        whole_numbers("age", 0, 100, open_top=True),
    )
)


def open_group(people: int, shares: Floats) -> Ints:
    """People of an open group such as 85+ given to its single values by known shares, as whole people.

    By largest remainder (Hamilton), so that the sum is kept. A guess about people, needed where a table ends below the
    ages that a policy would tell apart.
    """
    exact = people * shares / shares.sum()
    whole: Ints = np.floor(exact).astype(np.int64)
    last = np.argsort(-(exact - whole), kind="stable")[: people - int(whole.sum())]
    whole[last] += 1
    return whole


def adult() -> dict[str, list[str] | list[int]]:
    with gzip.open(DATA / "adult_30162.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return {
        "sex": [row["sex"] for row in rows],
        "race": [OF_ADULT[row["race"]] for row in rows],
        "age": [int(row["age"]) for row in rows],
    }


@cache
def study() -> LatticeCubes:
    with gzip.open(DATA / "population" / "shelby_tn_2019.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {
        "sex": [row["sex"] for row in rows],
        "race": [OF_COUNTY[row["race"]] for row in rows],
        "age": [int(row["age"]) for row in rows],
    }
    people = cube(LATTICE, columns, [int(row["population"]) for row in rows])
    with (DATA / "population" / "us_85_to_100_2019.csv").open(encoding="utf-8", newline="") as file:
        old = list(csv.DictReader(file))
    for sex, column in enumerate(("female", "male")):
        shares = np.array([float(row[column]) for row in old])
        for race in range(len(RACES)):
            people[sex, race, OPEN:] = open_group(int(people[sex, race, OPEN]), shares)
    return LatticeCubes(LATTICE, cube(LATTICE, adult()), people)
