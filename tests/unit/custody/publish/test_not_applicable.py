"""Questions that only adults were asked: with missing = "not applicable" children are a class of their own, and what
classes must keep is counted among those who were asked, in the guards and in the verifier."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import parse_policy
from querygate.methods.anonymise.division.mondrian import mondrian
from querygate.site.open_gate import OpenSite
from tests.engine import reading
from tests.policies import AGE, IDENTIFIER, ILLNESS, Column, PolicyText, diverse, make_policy, sensitive
from tests.unit.custody.publish.publications import classes_by, new_site, put

ADULT = 16
SPARED: Column = {"missing": "not applicable"}
PAY = sensitive("integer", (0, 100), bins=10, guard=10)
Rule = Callable[[Sequence[Any]], bool]


def survey(rows: int = 300, seed: int = 3) -> dict[str, list[Any]]:
    """Jobs and pay of adults; some of them did not answer, so that not every missing value is a child's."""
    rng = np.random.default_rng(seed)
    age = [*range(90), *rng.integers(0, 90, rows - 90).tolist()]
    asked = [a >= ADULT and rng.random() > 0.05 for a in age]
    job = rng.choice(["nurse", "cook", "guard", "judge"], rows, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    pay = rng.integers(0, 100, rows).tolist()
    return {
        "age": age,
        "job": [value if is_asked else None for value, is_asked in zip(job, asked, strict=True)],
        "pay": [value if is_asked else None for value, is_asked in zip(pay, asked, strict=True)],
    }


SURVEY = survey()
TWICE = SURVEY | {"id": [f"P{i // 2:04d}" for i in range(300)]}  # two rows for everybody


def policy(columns: dict[str, Column], **more: Any) -> PolicyText:
    return make_policy("t", {"age": AGE | {"cuts": [ADULT]}} | columns, k=4, anonymise={"method": "mondrian"}, **more)


def job(kind: str, **more: Any) -> dict[str, Column]:
    return {"job": ILLNESS | {"values": ["cook", "guard", "judge", "nurse"]} | diverse(kind, **more)}


def shares(values: Sequence[Any]) -> list[float]:
    return sorted((n / len(values) for n in Counter(values).values()), reverse=True)


def distance(values: Sequence[Any]) -> float:
    whole = Counter(value for value in SURVEY["job"] if value is not None)
    here = Counter(values)
    return sum(abs(here[v] / len(values) - n / whole.total()) for v, n in whole.items()) / 2


KINDS: dict[str, tuple[dict[str, Column], Rule]] = {
    "distinct": (job("distinct", l=3), lambda held: len(set(held)) >= 3),
    "entropy": (
        job("entropy", l=1.9),
        lambda held: -sum(s * math.log(s) for s in shares(held)) >= math.log(1.9) - 1e-8,
    ),
    "recursive": (job("recursive", c=3, l=2), lambda held: shares(held)[0] < 3 * sum(shares(held)[1:])),
    "alpha": (job("alpha", alpha=0.7), lambda held: shares(held)[0] <= 0.7),
    "t-closeness": (job("t-closeness", t=0.3), lambda held: distance(held) <= 0.3 + 1e-8),
    "p-sensitive": (job("p-sensitive", p=2), lambda held: len(set(held)) >= 2),
    "guard": ({"pay": PAY}, lambda held: max(held) - min(held) >= 10 and len({v // 10 for v in held}) >= 2),
    "guard of a hull": ({"pay": PAY | {"bins": None, "carry": "hull"}}, lambda held: max(held) - min(held) >= 10),
    "bins": ({"pay": PAY | diverse("distinct", l=3)}, lambda held: len({v // 10 for v in held}) >= 3),
    "(k,e)": (
        {"pay": PAY | {"guard": 0} | diverse("ke", e=20, distinct=3)},
        lambda held: max(held) - min(held) >= 20 and len(set(held)) >= 3,
    ),
    "(epsilon,m)": (
        {"pay": PAY | {"guard": 0} | diverse("em", epsilon=8, m=1.5)},
        lambda held: all(sum(abs(v - x) <= 8 for x in held) * 1.5 <= len(held) + 1e-8 for v in held),
    ),
}


def classes_of(opened: OpenSite, column: str) -> list[tuple[list[int], list[Any]]]:
    """Ages and known values of each class, from the vault."""
    with reading(opened.site.vault / "t" / "v00001.duckdb") as vault:
        rows = vault.execute(f"SELECT class, age, {column} FROM rows JOIN row_class USING (row_id)").fetchall()
    return [
        ([age for c, age, _ in rows if c == label], [v for c, _, v in rows if c == label and v is not None])
        for label in sorted({row[0] for row in rows})
    ]


def published(folder: Path, columns: dict[str, Column], rows: dict[str, list[Any]] = SURVEY, **more: Any) -> OpenSite:
    opened = new_site(folder)
    put(opened, policy(columns, **more), rows)
    return opened


def spared(columns: dict[str, Column]) -> dict[str, Column]:
    return {
        name: {k: v for k, v in column.items() if v is not None} | (SPARED if column["role"] == "sensitive" else {})
        for name, column in columns.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_children_are_apart_and_those_who_were_asked_keep_the_rule(kind: str, tmp_path: Path) -> None:
    columns, rule = KINDS[kind]
    found = classes_of(published(tmp_path, spared(columns)), next(iter(columns)))

    assert not any(min(ages) < ADULT <= max(ages) for ages, _ in found)
    assert sum(not held for _, held in found) > 1  # classes of children alone
    assert sum(bool(held) for _, held in found) > 1
    assert all(rule(held) for _, held in found if held)


def test_otherwise_a_missing_value_is_one_and_children_are_with_adults(tmp_path: Path) -> None:
    found = classes_of(published(tmp_path, job("distinct", l=2) | {"pay": PAY}), "job")

    assert all(held for _, held in found)
    assert any(min(ages) < ADULT <= max(ages) for ages, _ in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_verifier_does_not_count_those_who_were_not_asked(kind: str, tmp_path: Path) -> None:
    """One value beside missing ones would be two values; among those who were asked it is one."""
    columns, _ = KINDS[kind]
    rows = {
        "age": [10, 10, 10, 10, 30, 30, 30, 30, 30, 30, 50, 50, 50, 50, 50],
        "job": [None] * 4 + ["nurse"] * 3 + [None] * 3 + ["cook", "judge", "guard", "nurse", None],
        "pay": [None] * 4 + [15] * 3 + [None] * 3 + [5, 35, 65, 95, None],
    }
    with pytest.raises(ConfigError, match="The verifier found"):
        put(
            new_site(tmp_path),
            policy(spared(columns)),
            rows,
            anonymiser=classes_by("age", [age // 20 for age in range(121)]),
        )


@pytest.mark.parametrize("kind", ["distinct", "t-closeness", "guard", "(k,e)"])
def test_nobody_was_asked(kind: str, tmp_path: Path) -> None:
    columns, _ = KINDS[kind]
    nobody = SURVEY | {"job": [None] * 300, "pay": [None] * 300}
    report = put(new_site(tmp_path), policy(spared(columns)), nobody, anonymiser=mondrian)

    assert report.classes > 10


def test_people_with_several_rows(tmp_path: Path) -> None:
    """Two people of a class have the same job, and a third was not asked: that is one job, not two."""
    columns = {"id": IDENTIFIER} | spared(job("distinct", l=2))
    opened = published(tmp_path, columns, TWICE, person="id")
    assert any(not held for _, held in classes_of(opened, "job"))

    rows = {
        "id": [*"aabbccddeeff", *"gghhiijj"],
        "age": [10] * 8 + [30] * 8 + [50] * 4,
        "job": [None] * 8 + ["cook", "nurse"] * 3 + [None] * 2 + ["cook", "nurse"] * 2,
    }
    with pytest.raises(ConfigError, match="among people"):
        put(
            opened,
            policy(columns, person="id").but(k=2),
            rows,
            anonymiser=classes_by("age", [age // 20 for age in range(121)]),
        )


def test_along_a_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("nurse;care;all\ncook;care;all\nguard;law;all\njudge;law;all\n")
    column = ILLNESS | {"hierarchy": "jobs.csv"} | diverse("t-closeness", t=0.3, distance="hierarchy") | SPARED
    opened = new_site(tmp_path)
    report = put(opened, parse_policy(policy({"job": column}), folder=tmp_path), SURVEY)

    assert any(not held for _, held in classes_of(opened, "job"))
    assert report.measured.kept["hierarchy t of job"] <= 0.3


def test_a_second_version_goes_with_the_first(tmp_path: Path) -> None:
    """Children who come are no group that lacks values."""
    columns = {"id": IDENTIFIER} | spared(job("distinct", l=2) | {"pay": PAY})
    text = policy(columns, person="id")
    first = {name: values[::2] for name, values in TWICE.items()}
    come = {
        "id": [f"N{i}" for i in range(12)],
        "age": [4] * 12,
        "job": [None] * 12,
        "pay": [None] * 12,
    }
    opened = new_site(tmp_path)
    put(opened, text.but(republish={"on_overlap": "sticky"}), first, handling=None)
    second = put(
        opened,
        text.but(republish={"on_overlap": "sticky"}),
        {name: [*values, *come[name]] for name, values in first.items()},
        handling=None,
    )

    assert second.version == 2
    assert second.versions is not None
    assert second.versions.together.came == 0


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (AGE | SPARED, "does not apply to role quasi-identifier"),
        (ILLNESS | {"missing": "skip"}, "unknown choice"),
        (ILLNESS | diverse("personalised", by="w", share=0.5) | SPARED, "personalised"),
    ],
    ids=["not sensitive", "not a word", "personalised"],
)
def test_what_the_policy_does_not_take(column: Column, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        parse_policy(policy({"job": column, "w": {"role": "withheld"}}))


def test_the_hash_is_as_before_unless_it_is_set() -> None:
    plain = policy(job("distinct", l=2))
    said = plain.but(columns={"job": {"missing": "value"}})

    assert parse_policy(plain).canonical().count("missing") == 0
    assert parse_policy(plain).hash == parse_policy(said).hash
    assert parse_policy(plain).hash != parse_policy(plain.but(columns={"job": SPARED})).hash
