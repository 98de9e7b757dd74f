"""Advice of publish reports, followed word by word: what it warned of is gone, or smaller."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from querygate.custody.policy import parse_policy
from querygate.custody.publish_report import advice, k_sweep
from querygate.custody.use_cases.publish_with_report import find_report, publish_with_report, read_report
from tests.policies import AGE, IDENTIFIER, ILLNESS, PolicyText, code_list, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, write_parquet

pytestmark = pytest.mark.usefixtures("compared_methods")

Body = dict[str, Any]
Rows = dict[str, Any]
SEX = quasi("category", values=["F", "M"])
CODES = ["250.00", "250.01", "401.9", "401.1", "414.01", "428.0", "486", "585.9", "272.4", "496", "311", "530.81"]
WARDS = ["heart", "liver", "lung"]


def study(rows: int = 300, seed: int = 7) -> Rows:
    rng = np.random.default_rng(seed)
    age = [int(a) for a in rng.integers(0, 90, rows)]
    return {
        "mrn": [f"m{i:05d}" for i in range(rows)],
        "age": age,
        "zip": rng.integers(0, 1000, rows).tolist(),
        "sex": rng.choice(["F", "M"], rows).tolist(),
        "ward": rng.choice(WARDS, rows, p=[0.8, 0.1, 0.1]).tolist(),
        "job": [None if a < 16 else WARDS[i % 3] for i, a in enumerate(age)],
        "cost": np.round(rng.exponential(90, rows), 0).clip(0, 1000).tolist(),
        "dx": [rng.choice(CODES, rng.integers(1, 4), replace=False).tolist() for _ in range(rows)],
    }


STUDY = study()
WARD = ILLNESS | {"values": WARDS}
JOB = WARD | diverse("distinct", l=2)
ZIP = quasi("integer", (0, 1000), grid=10)
COST = sensitive("number", (0, 1000), carry="hull", guard=10)


def policy(*, k: int = 5, method: str = "mondrian", **columns: Any) -> PolicyText:
    return make_policy("t", {"age": AGE, "sex": SEX} | columns, k=k, anonymise={"method": method})


@cache
def report(text: PolicyText) -> Body:
    """The report on the study under a policy; and on a second version with few newcomers, where it names persons."""
    with TemporaryDirectory() as folder:
        opened = new_site(Path(folder))
        versions = [STUDY] if "person" not in text.tables else [{n: v[:-2] for n, v in STUDY.items()}, STUDY]
        for rows in versions:
            source = write_parquet(Path(folder) / "source.parquet", rows)
            done = publish_with_report(opened, parse_policy(text), str(source), user="tester", kind="json")
            assert done.problem is None, done.problem
        return dict(read_report(find_report(opened, "t", len(versions))))


# -- figures that a warning is about -----------------------------------------------------------------------------


def disclosed(column: str) -> Callable[[Body], float]:
    return lambda body: sum(line["records"] for line in body["disclosure"] if line["column"] == column)


def share(column: str) -> Callable[[Body], float]:
    return lambda body: sum(line["share"] for line in body["widths"] if line["column"] == column)


def width(statistic: str) -> Callable[[Body], float]:
    return lambda body: next(line["width"] for line in body["statistics"] if line["statistic"] == statistic)


def greatest(body: Body) -> float:
    return float(body["risk"]["prosecutor"]["greatest"])


def alone(body: Body) -> float:
    return float(body["risk"]["codes"]["alone"])


def told(body: Body) -> float:
    found = body["versions"]
    return 0.0 if found is None else float(sum(found["together"][key] for key in ("left", "came", "changed")))


def largest(body: Body) -> float:
    return float(body["class_sizes"]["largest"])


def across(body: Body) -> float:
    return float(sum(cut["records"] for cut in body["crossed_cuts"]["cuts"]))


# -- the catalogue -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Followed:
    """A policy that is warned of, words of the warning, and for words of the advice the policy that follows it."""

    before: PolicyText
    warning: str
    figure: Callable[[Body], float]
    steps: dict[str, PolicyText]


HOMOGENEOUS = policy(ward=WARD)
NARROW = policy(cost=COST | {"guard": 0, "grid": 40})
SMALL = policy(k=3)
ALONE = policy(dx=code_list("icd9cm", protect={"kind": "k^m", "m": 2}))
ALONE_IN_CLASSES = policy(k=3, dx=code_list("icd9cm", protect={"kind": "classes", "m": 1, "k": 2}))
COMING = policy(mrn=IDENTIFIER, zip=ZIP).but(person="mrn", republish={"few_changes": "report", "on_overlap": "sticky"})
COARSE = policy(k=60, zip=ZIP).but(columns={"age": {"weight": 8}})
EVEN = policy(k=60, zip=ZIP)
ONLY = policy(k=160).but(columns={"sex": None})
VAGUE = policy(k=60, zip=ZIP | {"weight": 8})
VAGUE_BINS = policy(cost=COST | {"carry": "bins", "bins": [0, 300, 600, 1000]})
VAGUE_HULL = policy(k=60, cost=COST)
HEAPED = policy(k=10, zip=ZIP, job=WARD | diverse("t-closeness", t=0.15))
CUT = policy(job=JOB).but(columns={"age": {"cuts": [16]}})

CATALOGUE = {
    "homogeneous": Followed(
        HOMOGENEOUS,
        "share one value of ward",
        disclosed("ward"),
        {
            'diversity = { kind = "distinct", l = 2 } in [columns.ward]': HOMOGENEOUS.but(
                columns={"ward": diverse("distinct", l=2)}
            )
        },
    ),
    "narrow": Followed(
        NARROW,
        "have values of cost within 80 of each other",
        disclosed("cost"),
        {"Set a guard of at least that in [columns.cost]": NARROW.but(columns={"cost": {"guard": 80}})},
    ),
    "small k": Followed(
        SMALL, "The smallest class has 3 records", greatest, {"k of at least 5": SMALL.but(k=5), "10": SMALL.but(k=10)}
    ),
    "codes": Followed(
        ALONE,
        "only ones in their class with their codes",
        alone,
        {
            'protect = { kind = "classes", m = 2 } in [columns.dx]': ALONE.but(
                columns={"dx": {"protect": {"kind": "classes", "m": 2}}}
            ),
            "a larger k": ALONE.but(k=25),
            "leave out a quasi-identifier": ALONE.but(columns={"sex": None}),
        },
    ),
    "codes in classes": Followed(
        ALONE_IN_CLASSES,
        "only ones in their class with their codes",
        alone,
        {
            "Raise m": ALONE_IN_CLASSES.but(columns={"dx": {"protect": {"kind": "classes", "m": 3, "k": 2}}}),
            "choose a larger k, there too if it has its own": ALONE_IN_CLASSES.but(
                k=12, columns={"dx": {"protect": {"kind": "classes", "m": 1, "k": 12}}}
            ),
        },
    ),
    "few came": Followed(
        COMING,
        "added, removed or changed in groups below k",
        told,
        {"retire the previous version": COMING.but(republish={"on_overlap": "retire"})},
    ),
    "coarse": Followed(
        COARSE,
        "zip is published with little detail",
        share("zip"),
        {
            "Raise its weight": COARSE.but(columns={"zip": {"weight": 30}}),
            "give it cuts": COARSE.but(columns={"zip": {"cuts": [250, 500, 750]}}),
            "leave out another quasi-identifier": COARSE.but(columns={"age": None}),
            "lower k": COARSE.but(k=5),
        },
    ),
    "coarse, and not needed": Followed(
        EVEN,
        "age is published with little detail",
        lambda body: share("zip")(body) + share("sex")(body),
        {"withhold it to make the other columns sharper": EVEN.but(columns={"age": None})},
    ),
    "coarse category": Followed(
        COARSE,
        "sex is published with little detail",
        share("sex"),
        {
            "Raise its weight": COARSE.but(columns={"sex": {"weight": 50}}),
            "leave out another quasi-identifier": COARSE.but(columns={"age": None}),
            "lower k": COARSE.but(k=5),
        },
    ),
    "coarse alone": Followed(ONLY, "age is published with little detail", share("age"), {"Lower k": ONLY.but(k=40)}),
    "vague": Followed(
        VAGUE,
        "The range of mean(age) covers",
        width("mean(age)"),
        {
            'Name it in anonymise.statistics with method = "auto"': VAGUE.but(
                anonymise={"statistics": ["mean(age)"], "method": "auto"}
            ),
            "lower k": VAGUE.but(k=5),
        },
    ),
    "vague in bins": Followed(
        VAGUE_BINS,
        "The range of mean(cost) covers",
        width("mean(cost)"),
        {
            "narrower bins": VAGUE_BINS.but(columns={"cost": {"bins": 50}}),
            'class_moments = "rounded"': VAGUE_BINS.but(anonymise={"class_moments": "rounded"}),
        },
    ),
    "vague in hulls": Followed(
        VAGUE_HULL,
        "The range of mean(cost) covers",
        width("mean(cost)"),
        {
            "in bins": VAGUE_HULL.but(columns={"cost": {"carry": "bins", "bins": 50}}),
            'class_moments = "rounded"': VAGUE_HULL.but(anonymise={"class_moments": "rounded"}),
        },
    ),
    "heaped": Followed(
        HEAPED,
        "of all records.",
        largest,
        {
            "Relax a guarantee": HEAPED.but(columns={"job": diverse("t-closeness", t=0.5)}),
        },
    ),
    "heaped by k": Followed(COARSE, "of all records.", largest, {"Lower k": COARSE.but(k=10)}),
    "a cut": Followed(
        CUT,
        "Classes reach across public cuts of age (16)",
        across,
        {
            'Set missing = "not applicable" in [columns.job]': CUT.but(columns={"job": {"missing": "not applicable"}}),
            "leave out these cuts": CUT.but(columns={"age": {"cuts": None}}),
        },
    ),
}
STEPS = [(name, step) for name, followed in CATALOGUE.items() for step in followed.steps]


@pytest.fixture(scope="module", autouse=True)
def without_the_map() -> Any:
    """Other k are tried elsewhere, and take their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_sweep, "FACTORS", ())
        yield


def warnings(body: Body, words: str) -> list[dict[str, str]]:
    return [warning for warning in body["warnings"] if words in warning["text"]]


@pytest.mark.parametrize(("name", "step"), STEPS, ids=[f"{name}: {step}" for name, step in STEPS])
def test_following_the_advice_helps(name: str, step: str) -> None:
    followed = CATALOGUE[name]
    before = report(followed.before)
    (warning,) = warnings(before, followed.warning)
    assert step in warning["advice"]

    after = report(followed.steps[step])
    assert followed.figure(after) < followed.figure(before)


NOT_FOLLOWED = ("The true value of ", " people have ")
"""A fault of the product, and what is to be read with care: there is nothing to change in the policy."""


def test_the_catalogue_has_every_advice() -> None:
    """Every warning that can be given is given by one of the policies above."""
    tree = ast.parse(Path(advice.__file__).read_text(encoding="utf-8"))
    given = [
        node.value.elts[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple)
    ]
    texts = [warning["text"] for followed in CATALOGUE.values() for warning in report(followed.before)["warnings"]]
    for text in given:
        words = [
            part.value for part in ast.walk(text) if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        longest = max(words, key=len)
        if not any(word in NOT_FOLLOWED for word in words):
            assert any(longest in one for one in texts), longest
