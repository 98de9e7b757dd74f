"""Guarantees in the policy file: every kind is read, nothing wrong gets through, and equal meaning has one hash."""

from __future__ import annotations

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import DiversityPolicy, KMapPolicy, parse_policy
from tests.policies import make_policy, quasi

TOP = make_policy("d", {"q": quasi("category")})
ILL = '[columns.ill]\nrole = "sensitive"\ntype = "category"\nvalues = ["a", "b", "c"]\n'
SBP = '[columns.sbp]\nrole = "sensitive"\ntype = "integer"\ndomain = [40, 300]\n'
MASS = '[columns.mass]\nrole = "sensitive"\ntype = "number"\ndomain = [0, 300]\n'
WISH = '[columns.wish]\nrole = "withheld"\n'


def kept(text: str) -> tuple[DiversityPolicy, ...]:
    (column,) = (column for column in parse_policy(TOP + text).columns if column.role == "sensitive")
    return column.diversity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ILL + 'diversity = { kind = "p-sensitive", p = 2 }', DiversityPolicy("p-sensitive", p=2)),
        (ILL + 'diversity = { kind = "t-closeness", t = 0.2 }', DiversityPolicy("t-closeness", t=0.2)),
        (
            ILL + 'diversity = { kind = "t-closeness", t = 0.2, distance = "equal" }',
            DiversityPolicy("t-closeness", t=0.2),
        ),
        (
            SBP + 'diversity = { kind = "t-closeness", t = 0.2 }',
            DiversityPolicy("t-closeness", t=0.2, distance="ordered"),
        ),
        (
            SBP + 'diversity = { kind = "t-closeness", t = 0.2, distance = "equal" }',
            DiversityPolicy("t-closeness", t=0.2, distance="equal"),
        ),
        (SBP + 'diversity = { kind = "ke", e = 10 }', DiversityPolicy("ke", e=10)),
        (SBP + 'diversity = { kind = "ke", e = 10, distinct = 3 }', DiversityPolicy("ke", e=10, distinct=3)),
        (MASS + 'diversity = { kind = "ke", e = 0.5 }', DiversityPolicy("ke", e=0.5)),
        (SBP + 'diversity = { kind = "em", epsilon = 0, m = 2.5 }', DiversityPolicy("em", epsilon=0, m=2.5)),
        (
            ILL + 'diversity = { kind = "ck", share = 0.7, pieces = 2 }',
            DiversityPolicy("ck", share=0.7, pieces=2),
        ),
        (ILL + 'diversity = { kind = "growth", share = 0.2 }', DiversityPolicy("growth", share=0.2)),
        (ILL + 'diversity = { kind = "mined", l = 2 }', DiversityPolicy("mined", l=2, expected=10)),
        (ILL + 'diversity = { kind = "mined", l = 2, expected = 5 }', DiversityPolicy("mined", l=2, expected=5)),
        (
            ILL + 'diversity = { kind = "alpha", alpha = 0.6, alphas = { c = 0.2, a = 0.1 } }',
            DiversityPolicy("alpha", alpha=0.6, alphas=(("a", 0.1), ("c", 0.2))),
        ),
        (ILL + 'diversity = { kind = "range", share = 0.5 }', DiversityPolicy("range", share=0.5)),
        (MASS + 'diversity = { kind = "range", share = 0.5 }', DiversityPolicy("range", share=0.5)),
        (SBP + 'diversity = { kind = "entropy", l = 2 }', DiversityPolicy("entropy", l=2)),
        (
            ILL
            + 'diversity = { kind = "personalised", by = "wish", share = 0.5, groups = { g = ["b", "a"] } }\n'
            + WISH,
            DiversityPolicy("personalised", by="wish", share=0.5, groups=(("g", ("a", "b")),)),
        ),
    ],
)
def test_every_kind(text, expected):
    assert kept(text) == (expected,)


def test_a_list_keeps_them_all():
    text = ILL + 'diversity = [{ kind = "distinct", l = 2 }, { kind = "alpha", alpha = 0.5 }]'
    assert kept(text) == (DiversityPolicy("distinct", l=2), DiversityPolicy("alpha", alpha=0.5))


@pytest.mark.parametrize(
    ("text", "path", "accepted"),
    [
        (ILL + "diversity = []", "columns.ill.diversity", "or a list of such tables"),
        (ILL + "diversity = [2]", "columns.ill.diversity.1", "must be a table"),
        (
            ILL + 'diversity = [{ kind = "distinct", l = 2 }, { kind = "alpha" }]',
            "columns.ill.diversity.2.alpha",
            "is missing",
        ),
        (
            ILL + 'diversity = [{ kind = "distinct", l = 2 }, { kind = "distinct", l = 2 }]',
            "columns.ill.diversity",
            "a list of distinct guarantees",
        ),
        (ILL + 'diversity = { kind = "ke", e = 2 }', "columns.ill.diversity.kind", "for type integer, number or date"),
        (ILL + 'diversity = { kind = "em", epsilon = 2, m = 2 }', "columns.ill.diversity.kind", "for type integer"),
        (SBP + 'diversity = { kind = "personalised", share = 1 }', "columns.sbp.diversity.kind", "for type category"),
        (ILL + 'diversity = { kind = "ck", share = 1, pieces = 2 }', "columns.ill.diversity.share", "0.999"),
        (ILL + 'diversity = { kind = "ck", share = 0.5, pieces = 5 }', "columns.ill.diversity.pieces", "4"),
        (ILL + 'diversity = { kind = "ck", share = 0.5 }', "columns.ill.diversity.pieces", "is missing"),
        (ILL + 'diversity = { kind = "mined", l = 2, expected = 0 }', "columns.ill.diversity.expected", "at least 1"),
        (SBP + 'diversity = { kind = "mined", l = 2 }', "columns.sbp.diversity.kind", "for type category"),
        (
            ILL + 'diversity = { kind = "alpha", alpha = 0.6, alphas = { d = 0.2 } }',
            "columns.ill.diversity.alphas",
            "accepted: a, b, c",
        ),
        (
            ILL + 'diversity = { kind = "alpha", alpha = 0.6, alphas = { a = 2 } }',
            "columns.ill.diversity.alphas",
            "a number above 0 and at most 1",
        ),
        (
            ILL + 'diversity = { kind = "alpha", alpha = 0.6, alphas = [0.2] }',
            "columns.ill.diversity.alphas",
            "a table of values and shares",
        ),
        (
            SBP + 'diversity = { kind = "alpha", alpha = 0.6, alphas = { x = 0.2 } }',
            "columns.sbp.diversity.alphas",
            "alpha alone",
        ),
        (
            ILL.replace("values", "title").replace('["a", "b", "c"]', '"Ill"')
            + 'diversity = { kind = "range", share = 0.5 }',
            "columns.ill.diversity.kind",
            "has values or hierarchy",
        ),
        (ILL + 'diversity = { kind = "range", share = 0 }', "columns.ill.diversity.share", "above 0"),
        (ILL + 'diversity = { kind = "p-sensitive", p = 4 }', "columns.ill.diversity.p", "at most 3"),
        (ILL + 'diversity = { kind = "p-sensitive", p = 2, l = 2 }', "columns.ill.diversity.l", "accepted: p"),
        (SBP + 'diversity = { kind = "ke", e = 0.5 }', "columns.sbp.diversity.e", "a whole number of at least 1"),
        (SBP + 'diversity = { kind = "ke", e = 5, distinct = 1 }', "columns.sbp.diversity.distinct", "at least 2"),
        (SBP + 'diversity = { kind = "em", epsilon = -1, m = 2 }', "columns.sbp.diversity.epsilon", "at least 0"),
        (SBP + 'diversity = { kind = "em", epsilon = 1, m = 1 }', "columns.sbp.diversity.m", "a number above 1"),
        (
            ILL + 'diversity = { kind = "t-closeness", t = 0.2, distance = "ordered" }',
            "columns.ill.diversity.distance",
            "accepted: equal",
        ),
        (
            ILL + 'diversity = { kind = "t-closeness", t = 0.2, distance = "hierarchy" }',
            "columns.ill.diversity.distance",
            "accepted: equal",
        ),
        (
            ILL + 'diversity = { kind = "personalised", by = "wish", share = 0.5 }',
            "columns.ill.diversity.by",
            "and role withheld or identifier",
        ),
        (
            ILL + 'diversity = { kind = "personalised", by = "q", share = 0.5 }',
            "columns.ill.diversity.by",
            "and role withheld or identifier",
        ),
        (ILL + 'diversity = { kind = "personalised", share = 0.5 }', "columns.ill.diversity.by", "is missing"),
        (
            ILL + 'diversity = { kind = "personalised", by = "wish", share = 0.5, groups = { g = ["z"] } }\n' + WISH,
            "columns.ill.diversity.groups",
            "accepted: a, b, c",
        ),
        (
            ILL + 'diversity = { kind = "personalised", by = "wish", share = 0.5, groups = { none = ["a"] } }\n' + WISH,
            "columns.ill.diversity.groups",
            "a name that is not a value",
        ),
        (
            ILL + 'diversity = { kind = "personalised", by = "wish", share = 0.5, groups = 3 }\n' + WISH,
            "columns.ill.diversity.groups",
            "a table of lists",
        ),
        ("[k_map]\nk = 5\n", "k_map.population", "a .csv, .tsv or .parquet file"),
        ('[k_map]\npopulation = "p.csv"\n', "k_map.k", "a whole number of at least 2"),
        ('[k_map]\npopulation = "p.csv"\nk = 5\ncolumns = ["age"]\n', "k_map.columns", "accepted: q"),
        ('[k_map]\npopulation = "p.csv"\nk = 5\ncount = ""\n', "k_map.count", "a string"),
        ("[anonymise]\nsearch = 'dark'\n", "anonymise.search", "guarded, blind"),
    ],
)
def test_the_error_names_the_key_and_what_is_accepted(text, path, accepted):
    with pytest.raises(ConfigError) as error:
        parse_policy(TOP + text, "d.toml")
    (line,) = error.value.detail.splitlines()
    assert line.startswith(f"d.toml: {path}: ")
    assert accepted in line


def test_k_map():
    text = '[k_map]\npopulation = "people.csv"\nk = 20\n'
    assert parse_policy(TOP + text).k_map == KMapPolicy("people.csv", 20)
    assert parse_policy(TOP + text + 'columns = ["q"]\n').k_map == KMapPolicy("people.csv", 20)
    assert parse_policy(TOP).k_map is None


def test_equal_meaning_has_one_hash():
    one, two = '{ kind = "distinct", l = 2 }', '{ kind = "alpha", alpha = 0.5 }'
    alone = parse_policy(TOP + ILL + f"diversity = {one}")
    assert alone.hash == parse_policy(TOP + ILL + f"diversity = [{one}]").hash
    both = parse_policy(TOP + ILL + f"diversity = [{one}, {two}]")
    assert both.hash == parse_policy(TOP + ILL + f"diversity = [{two}, {one}]").hash
    assert both.hash != alone.hash
    assert '"diversity":{"kind":"distinct","l":2}' in alone.canonical()
    moved = [parse_policy(TOP + f'[k_map]\npopulation = "{name}.csv"\nk = 20\n').hash for name in "ab"]
    assert len({*moved, parse_policy(TOP).hash}) == 2
    assert parse_policy(TOP + '[anonymise]\nsearch = "guarded"\n').hash == parse_policy(TOP).hash
    assert parse_policy(TOP + '[anonymise]\nsearch = "blind"\n').hash != parse_policy(TOP).hash


def test_the_wish_column_is_known():
    text = ILL + 'diversity = { kind = "personalised", by = "wish", share = 0.5 }\n' + WISH
    assert parse_policy(TOP + text).wishes == {"wish"}
    assert parse_policy(TOP).wishes == frozenset()
