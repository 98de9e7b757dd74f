"""Policies that load: what each key becomes, and what silence means."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.core.errors import ConfigError
from querygate.custody.policy import ColumnPolicy, DiversityPolicy, load_policy, parse_policy

STUDY = """
dataset = "patients"
title = "Blood pressure study"
k = 5
unit = "person"                      # one row per protected unit
[columns.mrn]
role = "identifier"
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
grid = 1
cuts = [20, 30, 40, 50, 60, 70, 80]
weight = 2
[columns.sex]
role = "quasi-identifier"
type = "category"
values = ["M", "F"]
[columns.sbp]
role = "sensitive"
type = "integer"
domain = [40, 300]
carry = "bins"
bins = 10
guard = 10
[columns.disease]
role = "sensitive"
type = "category"
diversity = { kind = "distinct", l = 2 }
[anonymise]
method = "auto"
edges = "grid"
class_moments = "none"
[answers]
modes = ["interval"]
min_group = 0
[audit]
on_differencing = "alert"
"""

HEAD = 'dataset = "d"\nk = 5\n[columns.q]\nrole = "quasi-identifier"\ntype = "category"\n'


def sensitive(lines: str) -> ColumnPolicy:
    """The column x of a policy with these lines in its table."""
    return parse_policy(f'{HEAD}[columns.x]\nrole = "sensitive"\n{lines}\n').column("x")


def quasi(lines: str) -> ColumnPolicy:
    return parse_policy(f'{HEAD}[columns.x]\nrole = "quasi-identifier"\n{lines}\n').column("x")


def test_the_study_is_read_as_written():
    policy = parse_policy(STUDY)
    assert (policy.dataset, policy.title, policy.k, policy.unit) == (
        "patients",
        "Blood pressure study",
        5,
        "person",
    )
    assert policy.columns == (
        ColumnPolicy("mrn", "identifier"),
        ColumnPolicy(
            *("age", "quasi-identifier", "integer"),
            low=0,
            high=120,
            grid=1,
            cuts=(20, 30, 40, 50, 60, 70, 80),
            weight=2.0,
        ),
        ColumnPolicy("sex", "quasi-identifier", "category", weight=1.0, values=("F", "M")),
        ColumnPolicy(*("sbp", "sensitive", "integer"), low=40, high=300, grid=5, carry="bins", bins=10, guard=10),
        ColumnPolicy("disease", "sensitive", "category", diversity=(DiversityPolicy("distinct", l=2),)),
    )
    assert policy.answers.modes == ("interval",)
    assert policy.warnings == ()


def test_silence_means_the_documented_defaults():
    policy = parse_policy(HEAD)
    assert (policy.title, policy.unit) == ("", "")
    assert (policy.anonymise.method, policy.anonymise.edges, policy.anonymise.class_moments) == (
        "auto",
        "grid",
        "none",
    )
    assert (policy.answers.modes, policy.answers.min_group) == (("interval",), 0)
    assert policy.audit.on_differencing == "alert"
    assert policy.column("q").weight == 1.0


@pytest.mark.parametrize("wanted", ["alert", "warn", "refuse"])
def test_what_is_done_about_differencing(wanted: str) -> None:
    assert parse_policy(f'{HEAD}[audit]\non_differencing = "{wanted}"\n').audit.on_differencing == wanted


@pytest.mark.parametrize(
    ("kind", "domain", "grid"),
    [
        ("integer", "[40, 300]", 5),
        ("integer", "[0, 120]", 2),
        ("integer", "[0, 1]", 1),
        ("number", "[0, 1]", 0.02),
        ("number", "[-0.5, 0.5]", 0.02),
        ("number", "[0, 1e-9]", 2e-11),
        ("number", "[-1e300, 1e300]", 5e298),
        ("date", "[1900-01-01, 2024-12-31]", 1000),
        ("date", "[2024-01-01, 2024-12-31]", 10),
        ("integer", "[-9223372036854775807, 9223372036854775807]", 5 * 10**17),
    ],
)
def test_the_silent_grid_is_a_round_step_near_a_fiftieth_of_the_domain(kind, domain, grid):
    column = quasi(f'type = "{kind}"\ndomain = {domain}')
    assert column.grid == grid
    assert type(column.grid) is (float if kind == "number" else int)
    assert column.weight == 2.0


@pytest.mark.parametrize(
    ("lines", "bins", "guard"),
    [
        ("", 10, 10),
        ("grid = 10", 20, 20),
        ("guard = 30", 30, 30),  # silent bins follow a wider guard
        ("bins = 40", 40, 10),
        ("bins = 1\nguard = 0", 1, 0),
        ("bins = [100, 200]", (40, 100, 200, 300), 10),
        ("bins = [40, 100, 300]", (40, 100, 300), 10),
        ('carry = "hull"', None, 10),
        ("grid = 260", 260, 260),  # two steps, but never more than the domain
    ],
)
def test_bins_and_guard_of_a_sensitive_number(lines, bins, guard):
    column = sensitive(f'type = "integer"\ndomain = [40, 300]\n{lines}')
    assert (column.bins, column.guard) == (bins, guard)
    assert column.carry == ("hull" if "hull" in lines else "bins")


def test_dates_are_days_since_1970_written_either_way():
    as_dates = quasi('type = "date"\ndomain = [1970-01-01, 1971-01-01]\ncuts = [1970-07-01]\ngrid = 7')
    as_texts = quasi('type = "date"\ndomain = ["1970-01-01", "1971-01-01"]\ncuts = ["1970-07-01"]\ngrid = 7')
    assert as_dates == as_texts
    assert (as_dates.low, as_dates.high, as_dates.cuts) == (0, 365, (181,))


def test_numbers_are_floats_and_zero_has_no_sign():
    column = quasi('type = "number"\ndomain = [-0.0, 10]\ncuts = [1, 2.5]')
    assert repr((column.low, column.high, column.cuts)) == "(0.0, 10.0, (1.0, 2.5))"


def test_public_numbers_need_no_domain_and_may_have_one():
    policy = parse_policy(
        f'{HEAD}[columns.a]\nrole = "public"\ntype = "number"\n'
        '[columns.b]\nrole = "public"\ntype = "integer"\ndomain = [1, 9]\ntitle = "Ward"\n'
    )
    assert policy.column("a") == ColumnPolicy("a", "public", "number")
    assert policy.column("b") == ColumnPolicy("b", "public", "integer", title="Ward", low=1, high=9)


@pytest.mark.parametrize(
    ("written", "diversity"),
    [
        ('{ kind = "distinct", l = 3 }', DiversityPolicy("distinct", l=3)),
        ('{ kind = "entropy", l = 1.5 }', DiversityPolicy("entropy", l=1.5)),
        ('{ kind = "recursive", c = 3, l = 2 }', DiversityPolicy("recursive", c=3.0, l=2)),
        ('{ kind = "t-closeness", t = 0.2 }', DiversityPolicy("t-closeness", t=0.2)),
        ('{ kind = "alpha", alpha = 1 }', DiversityPolicy("alpha", alpha=1.0)),
    ],
)
def test_every_kind_of_diversity(written, diversity):
    column = sensitive(f'type = "category"\nvalues = ["a", "b", "c"]\ndiversity = {written}')
    assert column.diversity == (diversity,)
    assert column.values == ("a", "b", "c")


def test_a_boolean_has_its_two_values():
    assert quasi('type = "boolean"').values == ("false", "true")


def test_columns_keep_the_order_of_the_file_and_any_name():
    policy = parse_policy(
        f'{HEAD}[columns."Geburts datum ü"]\nrole = "withheld"\n[columns."a.b"]\nrole = "identifier"\n'
    )
    assert [column.name for column in policy.columns] == ["q", "Geburts datum ü", "a.b"]


def test_named_selects_by_role_and_an_unnamed_column_is_withheld():
    policy = parse_policy(STUDY)
    assert [column.name for column in policy.named("quasi-identifier")] == ["age", "sex"]
    assert [column.name for column in policy.named("identifier", "sensitive")] == ["mrn", "sbp", "disease"]
    assert policy.column("Age") == ColumnPolicy("Age", "withheld")
    assert not policy.column("notes").is_published


@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        ('[anonymise]\nedges = "tight"', "anonymise.edges: tight: class edges are values of real people"),
        (
            '[columns.x]\nrole = "sensitive"\ntype = "number"\ndomain = [0, 1]\nguard = 0',
            "columns.x.guard: 0 is off",
        ),
        (
            '[columns."x y"]\nrole = "sensitive"\ntype = "category"',
            'columns."x y".diversity: not set: a class may be homogeneous',
        ),
        ('[columns.x]\nrole = "sensitive"\ntype = "boolean"', "columns.x.diversity: not set"),
        (
            '[columns.x]\nrole = "sensitive"\ntype = "integer"\ndomain = [0, 1]',
            "columns.x.bins: one bin covers the whole domain",
        ),
        (
            '[columns.x]\nrole = "quasi-identifier"\ntype = "integer"\ndomain = [1, 2]\ngrid = 1',
            "columns.x.domain: one cell covers the whole domain",
        ),
    ],
)
def test_risky_choices_are_recorded_as_warnings(lines, warning):
    (found,) = parse_policy(f"{HEAD}{lines}\n").warnings
    assert found.startswith(warning)


def test_a_file_is_read_with_or_without_a_byte_order_mark_and_with_any_line_end(tmp_path):
    plain, marked = tmp_path / "plain.toml", tmp_path / "marked.toml"
    plain.write_text(STUDY, encoding="utf-8")
    marked.write_bytes(b"\xef\xbb\xbf" + STUDY.replace("\n", "\r\n").encode())
    assert load_policy(plain) == load_policy(str(marked)) == parse_policy(STUDY)


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path):
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, what in [(tmp_path / "missing.toml", "cannot be read"), (binary, "accepted: UTF-8")]:
        with pytest.raises(ConfigError) as caught:
            load_policy(path)
        assert caught.value.code == "QG801"
        assert str(path) in caught.value.detail
        assert what in caught.value.detail
        assert caught.value.remedy


@given(st.dates(), st.dates())
def test_every_pair_of_days_is_a_domain_in_the_right_order(one, other):
    text = f'type = "date"\ndomain = [{one.isoformat()}, {other.isoformat()}]'
    if one < other:
        column = quasi(text)
        epoch = datetime.date(1970, 1, 1)
        assert (column.low, column.high) == ((one - epoch).days, (other - epoch).days)
    else:
        with pytest.raises(ConfigError, match="low below high"):
            quasi(text)
