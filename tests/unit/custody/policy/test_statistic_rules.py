"""Statistics of a policy: how they are read, and what they mean."""

from __future__ import annotations

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import StatisticPolicy, parse_policy
from querygate.methods.anonymise import ANONYMISERS
from tests.policies import ROUGH_AGE, SBP, make_policy, public, sensitive

HEAD = make_policy("d", {"age": ROUGH_AGE, "a, b)": public("number"), "sbp": SBP})


def options(lines: str):
    return parse_policy(f"{HEAD}[anonymise]\n{lines}\n").anonymise


def test_silence_wants_nothing():
    anonymise = parse_policy(HEAD).anonymise
    assert (anonymise.statistics, anonymise.max_width, anonymise.largest_k) == ((), (), False)
    assert options("statistics = []\nmax_width = {}\nlargest_k = false") == anonymise
    assert options("statistics = []").utility() == {}


@pytest.mark.parametrize(
    ("text", "kind", "columns"),
    [
        ("mean(sbp)", "mean", ("sbp",)),
        (" sd( age )", "sd", ("age",)),
        ("var(a, b))", "var", ("a, b)",)),
        ("median(sbp)", "median", ("sbp",)),
        ("corr(sbp, age)", "corr", ("age", "sbp")),
        ("cov(a, b),sbp)", "cov", ("a, b)", "sbp")),
        ("count", "count", ()),
    ],
)
def test_a_statistic_is_read(text, kind, columns):
    (found,) = options(f"statistics = ['{text}']").statistics
    assert found == StatisticPolicy(kind, columns)


def test_widths_go_with_their_statistic():
    anonymise = options('max_width = { "corr(sbp,age)" = 0.1, count = 1 }\nlargest_k = true')
    assert [(str(statistic), width) for statistic, width in anonymise.max_width] == [
        ("corr(age,sbp)", 0.1),
        ("count", 1.0),
    ]
    assert anonymise.largest_k is True


METHODS = ANONYMISERS.names()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_chosen(method):
    target = '\ntarget = "sbp"' if method == "mondrian-target" else ""
    assert options(f'method = "{method}"{target}').method == method


@pytest.mark.parametrize(
    ("lines", "key", "accepted"),
    [
        ('method = "mondrian-target"', "anonymise.method", "a column as target"),
        ('target = "sbp"', "anonymise.target", 'method = "mondrian-target"'),
        ('method = "snake"\ntarget = "sbp"', "anonymise.target", 'method = "mondrian-target"'),
        ('method = "mondrian-target"\ntarget = "age"', "anonymise.target", "a, b)"),
        ('method = "mondrian-target"\ntarget = "nobody"', "anonymise.target", "sbp"),
        ('method = "mondrian-target"\ntarget = 3', "anonymise.target", "string"),
        ('method = "mondrian-target"\ntarget = "ill"', "anonymise.target", "diversity"),
    ],
)
def test_a_target_that_cannot_be_one(lines, key, accepted):
    text = make_policy("d", {"age": ROUGH_AGE, "a, b)": public("number"), "sbp": SBP, "ill": sensitive("category")})
    with pytest.raises(ConfigError) as refused:
        parse_policy(f"{text}[anonymise]\n{lines}\n", "d.toml")
    assert refused.value.code == "QG801"
    assert any(line.startswith(f"d.toml: {key}: ") and accepted in line for line in refused.value.detail.splitlines())


def test_a_target_is_part_of_the_hash_and_its_absence_is_not():
    assert options('method = "mondrian-target"\ntarget = "sbp"').utility() == {"target": "sbp"}
    assert "target" not in parse_policy(HEAD).canonical()


def test_order_and_spelling_do_not_matter_to_the_hash():
    one = parse_policy(HEAD + '[anonymise]\nstatistics = ["mean(sbp)", "corr(age,sbp)"]\n')
    other = parse_policy(HEAD + '[anonymise]\nstatistics = ["corr(sbp, age)", "mean(sbp)"]\n')
    assert one.hash == other.hash


def test_every_wish_has_its_own_hash():
    wishes = ["", 'statistics = ["count"]', "max_width = {count = 1}", "max_width = {count = 2}", 'method = "snake"']
    wishes.append("max_width = {count = 1}\nlargest_k = true")
    assert len({parse_policy(f"{HEAD}[anonymise]\n{wish}\n").hash for wish in wishes}) == len(wishes)
