"""A policy whose people are known by codes or sequences alone: published, answered and verified like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from tests.policies import PolicyText, code_list, make_policy, public, sensitive
from tests.unit.custody.publish.publications import ask, ends, new_site, put

CODES = ("250.00", "250.02", "401.0", "401.1", "401.9", "493.00", "V10.3", "008.45")
LISTS: tuple[list[str | None] | None, ...] = (None, [], [None], ["401.9", "401.9", "4019"], ["v103 "])


def biobank(**more: Any) -> PolicyText:
    dx = code_list("flat", values=sorted(CODES), protect={"kind": "k^m", "m": 2}, utility={"kind": "none"})
    return make_policy("t", {"dx": dx}, k=3, **more)


def rows(number: int = 60, seed: int = 5) -> dict[str, Any]:
    """Lists of all kinds: none, empty, repeated codes, one that nearly all share, rare ones, other spellings."""
    rng = np.random.default_rng(seed)
    drawn = [["401.9", *rng.choice(CODES, rng.integers(0, 4)).tolist()] for _ in range(number)]
    return {"dx": [*LISTS, *drawn, ["493.00"]]}


def truth(lists: list[Any], *wanted: str) -> int:
    spelt = {"4019": "401.9", "v103 ": "V10.3"}
    return sum(bool({spelt.get(c, c) for c in one or () if c} & set(wanted)) for one in lists)


def test_counts_of_codes_are_sound_without_quasi_identifiers(tmp_path: Path) -> None:
    opened, data = new_site(tmp_path), rows()
    report = put(opened, biobank(), data)
    assert report.classes == 1
    assert report.measured.smallest == len(data["dx"])
    assert report.measured.kept["fewest records with known codes of dx"] >= 3
    assert ends(opened, "COUNT(*)") == (len(data["dx"]),) * 2
    for code in CODES:
        low, high = ends(opened, "COUNT(*)", f"has_code(dx, '{code}')")
        assert low <= truth(data["dx"], code) <= high
    low, high = ends(opened, "COUNT(*)", "has_code_under(dx, '250')")
    assert low <= truth(data["dx"], "250.00", "250.02") <= high
    (row,) = ask(opened, "SELECT COUNT(*) AS n FROM t WHERE has_any(dx, '401.9', '401.1')")
    assert row["n"]["low"] <= truth(data["dx"], "401.9", "401.1") <= row["n"]["high"]


def test_sensitive_and_public_columns_may_stand_beside_codes(tmp_path: Path) -> None:
    opened, data = new_site(tmp_path), rows()
    size = len(data["dx"])
    bmi = np.linspace(18, 40, size)
    data |= {"bmi": bmi, "ward": ["a", "ä", None, "a"] * (size // 4) + ["a"] * (size % 4)}
    policy = biobank().but(columns={"bmi": sensitive("number", (10, 60)), "ward": public("category")})
    put(opened, policy, data)
    low, high = ends(opened, "AVG(bmi)")
    assert low <= float(bmi.mean()) <= high


def test_guarantees_are_those_of_one_class(tmp_path: Path) -> None:
    """Even everybody together does not have two values: nothing is published."""
    opened, data = new_site(tmp_path), rows()
    data |= {"hiv": ["yes"] * len(data["dx"])}
    policy = biobank().but(columns={"hiv": sensitive("category", diversity={"kind": "distinct", "l": 2})})
    with pytest.raises(ConfigError) as refused:
        put(opened, policy, data)
    assert refused.value.code == "QG803"


@pytest.mark.parametrize(
    ("protect", "method"),
    [
        ({"kind": "classes", "m": 1}, "classes"),
        ({"kind": "complete"}, "partition"),
        ({"kind": "k^m", "m": 1}, "lra"),
        ({"kind": "k^m", "m": 2}, "vpa"),
        ({"kind": "k^m", "m": 2}, "local-suppression"),
        ({"kind": "uncertainty", "m": 2, "sensitive": ["493.00"], "share": 0.4}, "tdcontrol"),
        ({"kind": "patterns", "share": 0.1, "rules": [{"known": [], "secret": ["493.00"]}]}, "unknowns"),
    ],
)
def test_every_method_is_chosen_verified_and_answers_soundly(
    protect: dict[str, Any], method: str, tmp_path: Path
) -> None:
    opened, data = new_site(tmp_path), rows()
    policy = make_policy("t", {"dx": code_list("flat", values=sorted(CODES), protect=protect, method=method)}, k=3)
    report = put(opened, policy, data)
    assert report.codes[0].method == method
    for code in CODES:
        low, high = ends(opened, "COUNT(*)", f"has_code(dx, '{code}')")
        assert low <= truth(data["dx"], code) <= high


def test_a_policy_of_sequences_alone_is_published_as_a_number_of_records(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, make_policy("t", {"dna": {"role": "sequence"}}, k=2), {"dna": ["ACGT", "ACGA", None, "ACGT"]})
    assert ends(opened, "COUNT(*)") == (4, 4)


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"views": {"mode": "auto"}}, "views"),
        ({"k_map": {"population": "people.csv", "k": 5}}, "k_map.columns"),
        ({"release": {"population": "people.csv"}}, "release.columns"),
    ],
    ids=["views", "k-map", "release"],
)
def test_what_looks_people_up_needs_a_quasi_identifier(more: dict[str, Any], where: str) -> None:
    with pytest.raises(ConfigError) as refused:
        biobank(**more).parsed()
    assert refused.value.code == "QG801"
    assert where in refused.value.detail


@pytest.mark.parametrize("role", ["payload", "note", "identifier", "withheld"])
def test_a_policy_that_protects_nobody_is_refused(role: str) -> None:
    with pytest.raises(ConfigError, match="has no quasi-identifier, codes or sequence") as refused:
        make_policy("t", {"x": {"role": role}}, k=2).parsed()
    assert refused.value.code == "QG801"
