"""Somebody lays the files of two versions of views over each other, by linear algebra and by linear programming.

With the guard switched off people are found, as groups of fewer than k and with their very values; with it nobody is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.site.open_gate import OpenSite
from tests.attack.view_attacks import Told, certain_by_programmes, exposed_by_algebra
from tests.attack.view_files import read_classes, read_sums
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import copy_site, new_site, put

K, BEFORE, CAME = 4, 100, 40
POLICY = make_policy(
    "t",
    {
        "mrn": IDENTIFIER,
        "age": quasi("integer", (20, 59), grid=1, cuts=[40]),
        "sex": quasi("category", values=["f", "m"]),
        "race": quasi("category", values=["a", "b", "c"]),
        "school": quasi("category", values=["high", "low", "mid"]),
        "ill": sensitive("category", values=["no", "some", "yes"]),
        "sbp": sensitive("integer", (80, 159), bins=20, guard=20),
    },
    k=K,
    person="mrn",
    views={"mode": "spanning", "spanning": [["age", "sex", "race"], ["age", "sex", "school"]]},
)
OTHER = POLICY.but(views={"spanning": [["age", "race"], ["age", "sex", "school"]]})


def drawn(number: int, seed: int) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    return {
        "mrn": [f"{seed}-{i}" for i in range(number)],
        "age": random.integers(20, 60, number).tolist(),
        "sex": random.choice(["f", "m"], number).tolist(),
        "race": random.choice(["a", "b", "c"], number, p=[0.5, 0.3, 0.2]).tolist(),
        "school": random.choice(["high", "low", "mid"], number).tolist(),
        "ill": random.choice(["no", "some", "yes"], number, p=[0.6, 0.25, 0.15]).tolist(),
        "sbp": random.integers(80, 160, number).tolist(),
    }


FIRST = drawn(BEFORE, 1)
MORE = {name: values + drawn(CAME, 2)[name] for name, values in FIRST.items()}
MOVED = FIRST | {"school": [*("high" if one != "high" else "low" for one in FIRST["school"][:3]), *FIRST["school"][3:]]}
SECOND = {"newcomers": (POLICY, MORE), "other views": (OTHER, FIRST), "three changed schools": (POLICY, MOVED)}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    put(opened, POLICY, FIRST)
    return opened


@pytest.fixture
def opened(published: OpenSite, tmp_path: Path) -> OpenSite:
    return copy_site(published, tmp_path)


def laid_together(opened: OpenSite, second: dict[str, list[Any]], unit: str = "") -> Ints:
    """Classes of both versions; who came is in a class of its own in the first, whose figures are the difference."""
    first = read_classes(opened, 1, FIRST, unit)
    missing = np.full((len(first), len(second["mrn"]) - BEFORE), -1)
    return np.vstack([np.hstack([first, missing]), read_classes(opened, 2, second, unit)])


def found(opened: OpenSite, second: dict[str, list[Any]]) -> tuple[int, int]:
    """People in groups below k that are told apart, and people whose value is certain."""
    bins = np.unique(second["ill"], return_inverse=True)[1]
    told = laid_together(opened, second, "ill")
    return exposed_by_algebra(laid_together(opened, second), K), certain_by_programmes(Told(told, bins))


def fixed_numbers(opened: OpenSite, second: dict[str, list[Any]]) -> int:
    """People whose bin of pressure is certain, by histograms and cells of sums."""
    values, low = np.array(second["sbp"]), 80 + 20 * np.arange(4)
    told = laid_together(opened, second, "sbp")
    first, then = np.split(told, 2)
    ends = zip(read_sums(opened, 1, "sbp", first), read_sums(opened, 2, "sbp", then), strict=True)
    least, most = (np.vstack(pair) for pair in ends)
    return certain_by_programmes(Told(told, (values - 80) // 20, low, low + 19, (least, most)))


def test_one_version_alone_hides_everybody(opened: OpenSite) -> None:
    bins = np.unique(FIRST["ill"], return_inverse=True)[1]
    assert exposed_by_algebra(read_classes(opened, 1, FIRST), K) == 0
    assert certain_by_programmes(Told(read_classes(opened, 1, FIRST, "ill"), bins)) == 0


@pytest.mark.parametrize("name", SECOND)
def test_two_versions_find_people_unless_they_are_certified_together(opened: OpenSite, name: str) -> None:
    policy, rows = SECOND[name]
    guarded = copy_site(opened, opened.site.folder.parent / "guarded")
    put(opened, policy, rows)  # the comparison off
    few, certain = found(opened, rows)
    assert few > 0
    assert certain > 0 or name == "three changed schools"
    if name == "newcomers":
        assert fixed_numbers(opened, rows) > 0

    report = put(guarded, policy, rows, handling=None)
    assert report.versions is not None
    assert report.versions.certified == (1,)
    assert found(guarded, rows) == (0, 0)
    if name == "newcomers":
        assert fixed_numbers(guarded, rows) == 0
