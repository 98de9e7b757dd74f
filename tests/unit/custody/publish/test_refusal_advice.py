"""What a refused publication advises, followed word by word: the same source is then published."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from tests.policies import AGE, IDENTIFIER, ILLNESS, PolicyText, code_list, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, put

Rows = dict[str, list[Any]]
Given = tuple[PolicyText, Rows]
Step = Callable[[PolicyText, Rows, str], Given]
"""The policy, the source and the advice -> those that follow it."""

WARDS = ["heart", "liver", "lung"]


def study(rows: int = 120, seed: int = 2) -> Rows:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 90, rows).tolist(),
        "zip": rng.integers(0, 1000, rows).tolist(),
        "ward": rng.choice(WARDS, rows).tolist(),
        "cost": rng.integers(0, 1000, rows).tolist(),
        "dx": [rng.choice(["250.00", "401.9", "486"]) for _ in range(rows)],
    }


STUDY = study()
BASE = make_policy("t", {"age": AGE}, k=5, anonymise={"method": "mondrian"})
COST = sensitive("number", (0, 1000), guard=100)


def changed(**changes: Any) -> Step:
    return lambda policy, rows, advice: (policy.but(**changes), rows)


def columns(**changes: Any) -> Step:
    return changed(columns=changes)


def given(**values: Any) -> Step:
    return lambda policy, rows, advice: (policy, rows | values)


def first(number: int) -> Rows:
    return {name: values[:number] for name, values in STUDY.items()}


def smaller_k(policy: PolicyText, rows: Rows, advice: str) -> Given:
    (k,) = re.findall(r"^k = (\d+)\.$", advice, re.MULTILINE)
    return policy.but(k=int(k)), rows


def wider(policy: PolicyText, rows: Rows, advice: str) -> Given:
    (limit,) = re.findall(r'max_width = \{ "mean\(age\)" = (\S+) \}', advice)
    return policy.but(anonymise={"max_width": {"mean(age)": float(limit)}}), rows


def more_records(policy: PolicyText, rows: Rows, advice: str) -> Given:
    (number,) = re.findall(r"about ([\d,]+) of the same spread", advice)
    return policy, study(int(number.replace(",", "")), seed=3)


@dataclass(frozen=True)
class Refused:
    """A policy and a source that are refused, words of the refusal, and how to follow words of its advice."""

    policy: PolicyText
    rows: Rows
    detail: str
    steps: dict[str, Step]


REPEATED = STUDY | {"mrn": [f"m{i // 2}" for i in range(120)]}
UNEQUAL = BASE.but(columns={"cost": COST | {"bins": 100} | diverse("ke", e=900)})
ONE_BIN = BASE.but(columns={"cost": COST | {"bins": [0, 500, 1000], "guard": 10}})
WIDE = BASE.but(k=20, columns={"zip": quasi("integer", (0, 1000))}, anonymise={"max_width": {"mean(age)": 16}})

CATALOGUE = {
    "few rows": Refused(
        BASE,
        first(4),
        "fewer than k = 5",
        {"lower k": changed(k=2), "Publish more records": lambda policy, rows, advice: (policy, first(40))},
    ),
    "rare values": Refused(
        BASE.but(columns={"ward": ILLNESS}),
        STUDY | {"ward": [*STUDY["ward"][:-1], "Jane Roe"]},
        "fewer than k = 5 people have would become public",
        {
            'rare = "other"': columns(ward={"rare": "other"}),
            "list its public names in `values`": columns(ward={"values": [*WARDS, "Jane Roe"]}),
            "correct the source": given(ward=STUDY["ward"]),
        },
    ),
    "a guarantee out of reach": Refused(
        UNEQUAL,
        STUDY | {"cost": [500 + i for i in range(120)]},
        "Even all records together do not satisfy",
        {
            "Relax the guarantee": columns(cost=diverse("ke", e=50)),
            "withhold the column": columns(cost=None),
        },
    ),
    "one bin": Refused(
        ONE_BIN,
        STUDY | {"cost": [100 + i for i in range(120)]},
        "are all published as one bin",
        {
            "narrower `bins`": columns(cost={"bins": 20}),
            'carry = "hull"': columns(cost={"carry": "hull", "bins": None}),
        },
    ),
    "own intervals": Refused(
        BASE.but(columns={"cost": COST | {"carry": "univariate", "guard": 600}}),
        STUDY | {"cost": [500 + i for i in range(120)]},
        "even all its values together do not give an interval",
        {
            "Carry it in bins": columns(cost={"carry": "bins", "guard": 50}),
            "lower its guard": columns(cost={"guard": 50}),
        },
    ),
    "wide ranges": Refused(
        WIDE,
        STUDY,
        "the limits of max_width cannot be met",
        {
            "k = ": smaller_k,
            "Without the quasi-identifier zip": columns(zip=None),
            "max_width = ": wider,
        },
    ),
    "several rows": Refused(
        BASE.but(columns={"mrn": IDENTIFIER}),
        REPEATED,
        "people may have several rows",
        {'person = "mrn" above the first table': changed(person="mrn"), 'k_counts = "rows"': changed(k_counts="rows")},
    ),
    "rows of nobody": Refused(
        BASE.but(columns={"mrn": IDENTIFIER}, person="mrn"),
        REPEATED | {"mrn": [None, *REPEATED["mrn"][1:]]},
        "is missing in 1 of 120 rows",
        {
            "Give every row the person": given(mrn=REPEATED["mrn"]),
            "leave out the rows": lambda policy, rows, advice: (policy, {n: v[1:] for n, v in rows.items()}),
        },
    ),
    "codes of several rows": Refused(
        BASE.but(columns={"mrn": IDENTIFIER, "dx": code_list("icd9cm")}, person="mrn"),
        REPEATED,
        "which is protected by counting records",
        {
            "Leave it out of the policy": columns(dx=None),
            "provide": given(mrn=[f"m{i}" for i in range(120)]),
        },
    ),
    "outside the domain": Refused(
        BASE,
        STUDY | {"age": [130, *STUDY["age"][1:]]},
        "outside its domain",
        {
            "Widen the domain": columns(age={"domain": [0, 140]}),
            "correct the source": given(age=STUDY["age"]),
            "list them in `absent`": columns(age={"absent": ["130"]}),
        },
    ),
    "not declared": Refused(
        BASE.but(columns={"ward": ILLNESS | {"values": WARDS[:2]}}),
        STUDY,
        "not among its declared values",
        {"Declare them in `values`": columns(ward={"values": WARDS})},
    ),
    "not a code": Refused(
        BASE.but(columns={"dx": code_list("icd9cm")}),
        STUDY | {"dx": ["nothing", *STUDY["dx"][1:]]},
        "not in its code system",
        {'unknown = "other"': columns(dx={"unknown": "other"}), "Correct the source": given(dx=STUDY["dx"])},
    ),
}
STEPS = [(name, step) for name, refused in CATALOGUE.items() for step in refused.steps]


@pytest.mark.parametrize(("name", "step"), STEPS, ids=[f"{name}: {step}" for name, step in STEPS])
def test_following_the_advice_publishes(name: str, step: str, tmp_path: Path) -> None:
    refused, opened = CATALOGUE[name], new_site(tmp_path)
    with pytest.raises(ConfigError) as found:
        put(opened, refused.policy, refused.rows)
    assert refused.detail in found.value.detail
    assert step in found.value.remedy

    policy, rows = refused.steps[step](refused.policy, refused.rows, found.value.remedy)
    assert put(opened, policy, rows).classes >= 1


def refusal(folder: Path, policy: PolicyText, rows: Rows) -> tuple[float, str]:
    """How wide the range of mean(age) would be, and the advice."""
    folder.mkdir()
    with pytest.raises(ConfigError) as found:
        put(new_site(folder), policy, rows)
    (width,) = re.findall(r"mean\(age\): (\S+) wide", found.value.detail)
    return float(width), found.value.remedy


def test_more_records_bring_ranges_near_their_limits(tmp_path: Path) -> None:
    """That is an estimate: other records are not at hand when it is made."""
    before, advice = refusal(tmp_path / "before", WIDE, STUDY)
    never = WIDE.but(anonymise={"max_width": {"mean(age)": 1}})
    after, _ = refusal(tmp_path / "after", *more_records(never, STUDY, advice))

    assert after < before / 2
