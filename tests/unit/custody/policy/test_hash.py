"""Equal meaning, equal hash; different meaning, different hash."""

from __future__ import annotations

import json

import pytest

from querygate.custody.policy import parse_policy

SILENT = """
dataset = "d"
k = 5
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
[columns.sex]
role = "quasi-identifier"
type = "category"
values = ["F", "M"]
[columns.sbp]
role = "sensitive"
type = "number"
domain = [40, 300]
[columns.seen]
role = "public"
type = "date"
domain = [2020-01-01, 2021-01-01]
[columns.mrn]
role = "identifier"
"""

WRITTEN_OUT_IN_ANOTHER_ORDER = """
k = 5
dataset = "d"
unit = ""
title = ""
[audit]
on_differencing = "alert"
[answers]
min_group = 0
modes = ["interval"]
[anonymise]
class_moments = "none"
edges = "grid"
method = "auto"
[columns.notes]
role = "withheld"
title = "a column that is not named is withheld too"
[columns.mrn]
type = "category"
role = "identifier"
[columns.seen]
domain = ["2020-01-01", "2021-01-01"]
role = "public"
type = "date"
[columns.sbp]
guard = 10
bins = 10.0
carry = "bins"
grid = 5
domain = [4e1, 300.0]
type = "number"
role = "sensitive"
[columns.sex]
values = ["M", "F"]
weight = 1
type = "category"
role = "quasi-identifier"
[columns.age]
cuts = []
weight = 2.0
grid = 2
domain = [0, 120]
type = "integer"
role = "quasi-identifier"
"""


def test_order_spelling_and_written_defaults_do_not_matter():
    silent, written = parse_policy(SILENT), parse_policy(WRITTEN_OUT_IN_ANOTHER_ORDER)
    assert silent.canonical() == written.canonical()
    assert silent.hash == written.hash
    assert len(silent.hash) == 64


def test_bins_are_the_same_with_and_without_the_ends_of_the_domain():
    within = SILENT.replace("domain = [40, 300]", "domain = [40, 300]\nbins = [100, 200]")
    whole = SILENT.replace("domain = [40, 300]", "domain = [40, 300]\nbins = [40, 100, 200, 300]")
    assert parse_policy(within).hash == parse_policy(whole).hash


def test_the_canonical_form_is_fixed():
    """Hashes stand in logs and versions: this text may not change for a policy that means the same."""
    policy = parse_policy(
        'dataset = "d"\nk = 2\n[columns."é"]\nrole = "quasi-identifier"\ntype = "number"\ndomain = [0, 1]\n'
    )
    assert policy.canonical() == (
        '{"anonymise":{"class_moments":"none","edges":"grid","method":"auto"},'
        '"answers":{"min_group":0,"modes":["interval"]},"audit":{"on_differencing":"alert"},'
        '"columns":{"\\u00e9":{"grid":0.02,"high":1.0,"low":0.0,"role":"quasi-identifier","type":"number",'
        '"weight":2.0}},"dataset":"d","k":2,"title":"","unit":""}'
    )
    assert json.loads(policy.canonical())["columns"]["é"]["grid"] == 0.02


CHANGES = [
    ('dataset = "d"', 'dataset = "e"'),
    ("k = 5", "k = 6"),
    ("k = 5", 'k = 5\nunit = "person"'),
    ("k = 5", 'k = 5\ntitle = "Study"'),
    ("[0, 120]", "[0, 121]"),
    ("[0, 120]", "[0, 120]\ngrid = 1"),
    ("[0, 120]", "[0, 120]\ncuts = [60]"),
    ("[0, 120]", "[0, 120]\nweight = 4"),
    ("[0, 120]", '[0, 120]\ntitle = "Age"'),
    ("[40, 300]", "[40, 300]\nbins = 20"),
    ("[40, 300]", "[40, 300]\nguard = 0"),
    ("[40, 300]", '[40, 300]\ncarry = "hull"'),
    ('["F", "M"]', '["F", "M", "X"]'),
    ('role = "public"', 'role = "quasi-identifier"'),
    ('role = "identifier"', 'role = "identifier"\n[anonymise]\nedges = "tight"'),
    ('role = "identifier"', 'role = "identifier"\n[answers]\nmin_group = 5'),
    ('[columns.mrn]\nrole = "identifier"', ""),
]


def test_every_change_of_meaning_has_its_own_hash():
    hashes = [parse_policy(SILENT.replace(*change, 1)).hash for change in CHANGES]
    assert len({parse_policy(SILENT).hash, *hashes}) == len(CHANGES) + 1


@pytest.mark.parametrize("change", CHANGES, ids=[new for _, new in CHANGES])
def test_the_changes_are_really_made(change):
    assert change[0] in SILENT
