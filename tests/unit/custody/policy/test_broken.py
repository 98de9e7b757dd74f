"""Policies that do not load: each error names the file, the key path and what is accepted."""

from __future__ import annotations

import pytest

from querygate.core.errors import ConfigError, Span
from querygate.custody.policy import parse_policy
from tests.each import each

TOP = 'dataset = "d"\nk = 5\n'
Q = '[columns.q]\nrole = "quasi-identifier"\ntype = "category"\n'
AGE = '[columns.age]\nrole = "quasi-identifier"\ntype = "integer"\n'
SBP = '[columns.sbp]\nrole = "sensitive"\ntype = "integer"\n'
LAB = '[columns.lab]\nrole = "sensitive"\ntype = "number"\n'
DAY = '[columns.day]\nrole = "quasi-identifier"\ntype = "date"\n'
ILL = '[columns.ill]\nrole = "sensitive"\ntype = "category"\n'
NOISE = '[answers]\nmodes = ["laplace"]\n[laplace]\nepsilon_per_query = 0.1\nepsilon_per_user = 1\n'

# what is written, the key path that must be named, a phrase that tells what is accepted
BROKEN = [
    # the file
    ("k = 5\n" + Q, "dataset", "is missing; accepted: a string that matches [a-z][a-z0-9_]{0,62}"),
    ('dataset = "Patients"\nk = 5\n' + Q, "dataset", "[a-z][a-z0-9_]{0,62}"),
    (f'dataset = "{"a" * 64}"\nk = 5\n' + Q, "dataset", "[a-z][a-z0-9_]{0,62}"),
    ('dataset = "a\\n"\nk = 5\n' + Q, "dataset", "[a-z][a-z0-9_]{0,62}"),
    ("dataset = 7\nk = 5\n" + Q, "dataset", "a string that matches"),
    ('dataset = "d"\n' + Q, "k", "is missing; accepted: a whole number of at least 2"),
    ('dataset = "d"\nk = 1\n' + Q, "k", "a whole number of at least 2"),
    ('dataset = "d"\nk = 5.0\n' + Q, "k", "a whole number of at least 2"),
    ('dataset = "d"\nk = true\n' + Q, "k", "a whole number of at least 2"),
    ('dataset = "d"\nk = "5"\n' + Q, "k", "a whole number of at least 2"),
    ('dataset = "d"\nk = 9223372036854775808\n' + Q, "k", "a whole number of at least 2"),
    ("title = 5\n" + TOP + Q, "title", "a string"),
    ("unit = []\n" + TOP + Q, "unit", "a string"),
    ('titel = "x"\n' + TOP + Q, "titel", 'did you mean "title"?); accepted: dataset, title, k'),
    (
        TOP + Q + "[laplace]\nepsilon_total = 1.0\n",
        "laplace",
        'is set, but no answers use that mode; accepted: answers.modes = ["interval", "laplace"]',
    ),
    # columns as a whole
    (TOP, "columns", "at least one column with role quasi-identifier"),
    (TOP + "columns = 3\n", "columns", "one table [columns.NAME] per column"),
    (TOP + "[[columns]]\n", "columns", "one table [columns.NAME] per column"),
    (TOP + '[columns.a]\nrole = "public"\ntype = "integer"\n', "columns", "role quasi-identifier"),
    (TOP + Q + "[columns]\nx = 1\n", "columns.x", "accepted: keys role, type"),
    (TOP + Q + Q.replace(".q", ".Q"), "columns.Q", "names that differ by more than upper and lower case"),
    # role and type
    (TOP + Q + "[columns.x]\n", "columns.x.role", "is missing; accepted: identifier, quasi-identifier"),
    (TOP + Q + '[columns.x]\ntype = "date"\n', "columns.x.role", "accepted: identifier, quasi-identifier"),
    (TOP + Q + '[columns.x]\nrole = "sensitiv"\n', "columns.x.role", 'did you mean "sensitive"?); accepted: '),
    (
        TOP + Q + '[columns.x]\nrole = "codes"\n',
        "columns.x.system",
        "is missing; accepted: icd9cm, icd10cm, icd9cm+icd10cm, icd10, ccs",
    ),
    (TOP + Q + '[columns.x]\nrole = "codes"\ntype = "category"\n', "columns.x.type", "both role and type codes"),
    (TOP + Q + "[columns.x]\nrole = [1]\n", "columns.x.role", "accepted: identifier, quasi-identifier"),
    (TOP + Q + '[columns.x]\nrole = "public"\n', "columns.x.type", "is missing; accepted: integer, number"),
    (TOP + Q + '[columns.x]\nrole = "public"\ntype = "text"\n', "columns.x.type", "role withheld; or map it"),
    (TOP + Q + '[columns.x]\nrole = "public"\ntype = "codes"\n', "columns.x.type", "another type, or role codes"),
    (TOP + Q + '[columns.x]\nrole = "public"\ntype = "float"\n', "columns.x.type", "integer, number, date"),
    (TOP + Q + '[columns.x]\nrole = "identifier"\ntype = "int"\n', "columns.x.type", "integer, number, date"),
    (TOP + Q + "title = 3\n", "columns.q.title", "a string"),
    # keys that are unknown, wait, or do not apply
    (TOP + Q + "[columns.x]\nrol = 1\n", "columns.x.rol", 'did you mean "role"?); accepted: role, type'),
    (TOP + Q + "k = 7\n", "columns.q.k", "write k above the first [table]); accepted: for role sequence"),
    (TOP + Q + 'hierarchy = "letters"\n', "columns.q.hierarchy", "digits, icd9cm"),
    (TOP + Q + 'system = "icd9cm"\n', "columns.q.system", "for role codes with type codes"),
    (TOP + Q + "protect = {}\n", "columns.q.protect", "for role codes with type codes"),
    (TOP + Q + "domain = [0, 1]\n", "columns.q.domain", "with type integer or number or date"),
    (TOP + Q + "bins = 2\n", "columns.q.bins", "for role sensitive or sequence with type integer"),
    (TOP + Q + 'diversity = {kind = "alpha"}\n', "columns.q.diversity", "for role sensitive with type category"),
    (TOP + Q + SBP + "domain = [0, 9]\nweight = 2\n", "columns.sbp.weight", "for role quasi-identifier"),
    (TOP + Q + SBP + "domain = [0, 9]\ncuts = [2]\n", "columns.sbp.cuts", "for role quasi-identifier"),
    (TOP + Q + '[columns.x]\nrole = "identifier"\ngrid = 1\n', "columns.x.grid", "quasi-identifier or sensitive"),
    (TOP + AGE + "domain = [0, 9]\nvalues = ['a']\n", "columns.age.values", "with type category"),
    # domain
    (TOP + AGE, "columns.age.domain", "is missing; accepted: [low, high], two whole numbers of 64 bits"),
    (TOP + AGE + "domain = [9, 0]\n", "columns.age.domain", "low below high"),
    (TOP + AGE + "domain = [3, 3]\n", "columns.age.domain", "low below high"),
    (TOP + AGE + "domain = [0, 5, 9]\n", "columns.age.domain", "[low, high]"),
    (TOP + AGE + "domain = 9\n", "columns.age.domain", "[low, high]"),
    (TOP + AGE + "domain = [0.0, 9.0]\n", "columns.age.domain", "two whole numbers of 64 bits"),
    (TOP + AGE + "domain = [false, true]\n", "columns.age.domain", "two whole numbers of 64 bits"),
    (TOP + AGE + "domain = [0, 9223372036854775808]\n", "columns.age.domain", "whole numbers of 64 bits"),
    (TOP + Q + LAB + "domain = [0, inf]\n", "columns.lab.domain", "two finite numbers"),
    (TOP + Q + LAB + "domain = [nan, 1]\n", "columns.lab.domain", "two finite numbers"),
    (TOP + Q + LAB + "domain = [0, 1e400]\n", "columns.lab.domain", "two finite numbers"),
    (TOP + Q + LAB + "domain = [0, 9007199254740993]\n", "columns.lab.domain", "two finite numbers"),
    (TOP + DAY + "domain = [2020-01-01, 2019-01-01]\n", "columns.day.domain", "two dates such as 2024-01-31"),
    (TOP + DAY + "domain = [2020-01-01T00:00:00, 2021-01-01]\n", "columns.day.domain", "two dates such as"),
    (TOP + DAY + 'domain = ["2020-02-30", "2021-01-01"]\n', "columns.day.domain", "two dates such as"),
    (TOP + DAY + 'domain = ["20200101", "20210101"]\n', "columns.day.domain", "two dates such as"),
    (TOP + DAY + "domain = [0, 100]\n", "columns.day.domain", "two dates such as 2024-01-31"),
    # grid, cuts, weight
    (TOP + AGE + "domain = [0, 9]\ngrid = 0\n", "columns.age.grid", "a whole number of at least 1"),
    (TOP + AGE + "domain = [0, 9]\ngrid = 0.5\n", "columns.age.grid", "a whole number of at least 1"),
    (TOP + AGE + "domain = [0, 9]\ngrid = 10\n", "columns.age.grid", "at least 1 and at most 9"),
    (TOP + AGE + "domain = [0, 1000000]\ngrid = 1\n", "columns.age.grid", "more than 100,000 edges; accepted: "),
    (TOP + Q + LAB + "domain = [0, 1]\ngrid = 0\n", "columns.lab.grid", "a number above 0"),
    (TOP + Q + LAB + "domain = [0, 1]\ngrid = 1e-300\n", "columns.lab.grid", "a wider step"),
    (TOP + DAY + "domain = [2020-01-01, 2021-01-01]\ngrid = 1.5\n", "columns.day.grid", "a whole number"),
    (TOP + AGE + "domain = [0, 9]\ncuts = [4, 4]\n", "columns.age.cuts", "strictly increasing whole numbers"),
    (TOP + AGE + "domain = [0, 9]\ncuts = [0, 4]\n", "columns.age.cuts", "inside the domain, without its ends"),
    (TOP + AGE + "domain = [0, 9]\ncuts = [4, 20]\n", "columns.age.cuts", "is outside the domain [0, 9]; accepted: "),
    (TOP + AGE + "domain = [0, 9]\ncuts = 4\n", "columns.age.cuts", "strictly increasing whole numbers"),
    (
        TOP + DAY + "domain = [2020-01-01, 2021-01-01]\ncuts = [2022-01-01]\n",
        "columns.day.cuts",
        "is outside the domain [2020-01-01, 2021-01-01]; accepted: strictly increasing dates",
    ),
    (TOP + Q + "weight = 0\n", "columns.q.weight", "a number above 0"),
    (TOP + Q + 'weight = "2"\n', "columns.q.weight", "a number above 0"),
    (TOP + Q + "weight = inf\n", "columns.q.weight", "a number above 0"),
    # carry, bins, guard
    (TOP + Q + SBP + 'domain = [40, 300]\ncarry = "hul"\n', "columns.sbp.carry", '"hull"?); accepted: bins, hull'),
    (TOP + Q + SBP + 'domain = [0, 9]\ncarry = "joint"\nguard = 0\n', "columns.sbp.guard", "needs a guard"),
    (TOP + Q + SBP + 'domain = [0, 9]\ncarry = "univariate"\nguard = 0\n', "columns.sbp.guard", "a number above 0"),
    (TOP + Q + SBP + 'domain = [0, 9]\ncarry = "joint"\nbins = 2\n', "columns.sbp.bins", 'for carry = "bins"'),
    (TOP + Q + SBP + 'domain = [0, 9]\ncarry = "hull"\nbins = 2\n', "columns.sbp.bins", 'for carry = "bins"'),
    (
        TOP + Q + SBP + "domain = [40, 300]\nbins = 5\n",
        "columns.sbp.bins",
        "bins at least 10 wide, as wide as the guard",
    ),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = 10\nguard = 20\n", "columns.sbp.bins", "bins at least 20 wide"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = [90, 95]\n", "columns.sbp.bins", "bins at least 10 wide"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = [41, 90]\n", "columns.sbp.bins", "also at the ends of the domain"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = [0, 90]\n", "columns.sbp.bins", "accepted: edges within it"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = 500\n", "columns.sbp.bins", "a width of at most 260"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = 0\n", "columns.sbp.bins", "a whole number of at least 1"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = []\n", "columns.sbp.bins", "or a list of edges"),
    (TOP + Q + SBP + "domain = [40, 300]\nbins = [90, 80]\n", "columns.sbp.bins", "strictly increasing"),
    (TOP + Q + SBP + 'domain = [40, 300]\nbins = "ten"\n', "columns.sbp.bins", "a width"),
    (TOP + Q + LAB + "domain = [0, 1]\nguard = 0\nbins = 1e-6\n", "columns.lab.bins", "a wider step"),
    (TOP + Q + LAB + "domain = [0, 0.3]\ngrid = 0.1\nbins = [0.15]\n", "columns.lab.bins", "bins at least 0.2 wide"),
    (TOP + Q + SBP + "domain = [40, 300]\nguard = -1\n", "columns.sbp.guard", "a whole number of at least 0"),
    (TOP + Q + SBP + "domain = [40, 300]\nguard = 261\n", "columns.sbp.guard", "at most 260"),
    # values and diversity
    (TOP + Q + 'values = ["a", "a"]\n', "columns.q.values", "a list of distinct strings"),
    (TOP + Q + "values = []\n", "columns.q.values", "at least one distinct string"),
    (TOP + Q + "values = [1, 2]\n", "columns.q.values", "a list of distinct strings"),
    (TOP + Q + 'values = "a"\n', "columns.q.values", "a list of distinct strings"),
    (TOP + Q + ILL + "diversity = 2\n", "columns.ill.diversity", "must be a table; accepted: keys kind, l, c"),
    (TOP + Q + ILL + "diversity = {l = 2}\n", "columns.ill.diversity.kind", "accepted: distinct, entropy"),
    (TOP + Q + ILL + 'diversity = {kind = "l"}\n', "columns.ill.diversity.kind", "accepted: distinct, entropy"),
    (TOP + Q + ILL + 'diversity = {kind = "distinct"}\n', "columns.ill.diversity.l", "is missing; accepted: a whole"),
    (TOP + Q + ILL + 'diversity = {kind = "distinct", l = 1}\n', "columns.ill.diversity.l", "at least 2"),
    (TOP + Q + ILL + 'diversity = {kind = "entropy", l = 1}\n', "columns.ill.diversity.l", "a number above 1"),
    (TOP + Q + ILL + 'diversity = {kind = "recursive", l = 2}\n', "columns.ill.diversity.c", "a number above 0"),
    (TOP + Q + ILL + 'diversity = {kind = "t-closeness", t = 1.5}\n', "columns.ill.diversity.t", "at most 1"),
    (TOP + Q + ILL + 'diversity = {kind = "alpha", alpha = 0}\n', "columns.ill.diversity.alpha", "above 0 and"),
    (
        TOP + Q + ILL + 'diversity = {kind = "alpha", alpha = 0.5, l = 2}\n',
        "columns.ill.diversity.l",
        "is not a parameter of kind alpha; accepted: alpha",
    ),
    (TOP + Q + ILL + 'diversity = {kind = "alpha", a = 1}\n', "columns.ill.diversity.a", "kind, l, c, t, alpha"),
    (
        TOP + Q + ILL + 'values = ["a", "b"]\ndiversity = {kind = "distinct", l = 3}\n',
        "columns.ill.diversity.l",
        "accepted: at most 2",
    ),
    # anonymise, answers, audit
    (TOP + Q + "[anonymise]\nmethod = 1\n", "anonymise.method", "accepted: auto, mondrian"),
    (TOP + Q + '[anonymise]\nmethod = "univariate"\n', "anonymise.method", "one quasi-identifier, not a category"),
    (TOP + Q + '[anonymise]\nmethod = "mondrain"\n', "anonymise.method", 'did you mean "mondrian"?'),
    (TOP + Q + '[anonymise]\nedges = "loose"\n', "anonymise.edges", "accepted: grid, tight"),
    (TOP + Q + '[anonymise]\nclass_moments = "all"\n', "anonymise.class_moments", "accepted: none, rounded, exact"),
    (TOP + Q + '[anonymise]\nclass_moments = "exact"\n', "anonymise.class_moments", "exact needs a k of at least 10"),
    (
        TOP + Q + SBP + 'domain = [0, 9]\nguard = 0\n[anonymise]\nclass_moments = "rounded"\n',
        "anonymise.class_moments",
        "needs a guard, but sbp has none",
    ),
    (TOP + Q + '[anonymise]\nstatistics = "count"\n', "anonymise.statistics", "a list of mean(x), var(x)"),
    (TOP + Q + '[anonymise]\nstatistics = ["mean(x)"]\n', "anonymise.statistics", "published numbers (none here)"),
    (TOP + Q + '[anonymise]\nstatistics = ["mean(q)"]\n', "anonymise.statistics", "'mean(q)' is not a statistic"),
    (TOP + Q + '[anonymise]\nstatistics = ["count(q)"]\n', "anonymise.statistics", "corr(x, y), count, with"),
    (TOP + Q + '[anonymise]\nstatistics = [1, "count", "count"]\n', "anonymise.statistics", "1 is not a statistic"),
    (TOP + Q + '[anonymise]\nstatistics = ["count", " count"]\n', "anonymise.statistics", "names count twice"),
    (TOP + Q + SBP + '[anonymise]\nstatistics = ["mean(sbp"]\n', "anonymise.statistics", "numbers (sbp)"),
    (TOP + Q + SBP + '[anonymise]\nstatistics = ["cov(sbp,sbp)"]\n', "anonymise.statistics", "cov(x, y)"),
    (TOP + Q + "[anonymise]\nmax_width = 5\n", "anonymise.max_width", 'as { "mean(x)" = 5 }'),
    (TOP + Q + "[anonymise]\nmax_width = { count = 0 }\n", "anonymise.max_width", "a number above 0"),
    (TOP + Q + "[anonymise]\nmax_width = { cuont = 1 }\n", "anonymise.max_width", "'cuont' is not a statistic"),
    (TOP + Q + "[anonymise]\nlargest_k = 7\n", "anonymise.largest_k", "accepted: true, false"),
    (TOP + Q + "[anonymise]\nlargest_k = true\n", "anonymise.largest_k", "true together with max_width"),
    ("anonymise = 1\n" + TOP + Q, "anonymise", "must be a table; accepted: keys method, edges"),
    (
        TOP + Q + '[answers]\nmodes = ["laplace"]\n',
        "laplace",
        "is missing; accepted: a table [laplace] with",
    ),
    (TOP + Q + NOISE + "epsilon_total = 0\n", "laplace.epsilon_total", "a number above 0 and at most 100"),
    (TOP + Q + NOISE + "epsilon_total = 0.05\n", "laplace.epsilon_total", "is less than the cost of one question"),
    (TOP + Q + NOISE + "epsilon_total = 1\nepsilon_least = 0\n", "laplace.epsilon_least", "a number above 0"),
    (
        TOP + Q + NOISE + "epsilon_total = 1\nepsilon_least = 0.2\n",
        "laplace.epsilon_least",
        "at most epsilon_per_query",
    ),
    (TOP + Q + NOISE + "epsilon_total = 1\ndelta = 1e-6\n", "laplace.delta", "applies to the Gaussian mechanisms"),
    (TOP + Q + NOISE + 'epsilon_total = 1\nmechanism = "uniform"\n', "laplace.mechanism", "geometric, laplace"),
    (TOP + Q + NOISE + 'epsilon_total = 1\nperson = "age"\n', "laplace.person", "is not an identifier"),
    (TOP + Q + NOISE + "epsilon_total = 1\nrows_per_person = 3\n", "laplace.rows_per_person", "identifies persons"),
    (TOP + Q + "[answers]\nmodes = []\n", "answers.modes", "accepted: a list of interval"),
    (TOP + Q + '[answers]\nmodes = "interval"\n', "answers.modes", "accepted: a list of interval"),
    (TOP + Q + '[answers]\nmodes = ["interval", "interval"]\n', "answers.modes", "distinct strings"),
    (TOP + Q + "[answers]\nmin_group = -1\n", "answers.min_group", "a whole number of at least 0"),
    (TOP + Q + "[answers]\nmin_groups = 1\n", "answers.min_groups", 'did you mean "min_group"?'),
    (TOP + Q + '[audit]\non_differencing = "ignore"\n', "audit.on_differencing", "accepted: alert, warn, refuse"),
]


@each("text, path, accepted", BROKEN)
def test_the_error_names_the_key_and_what_is_accepted(text, path, accepted):
    with pytest.raises(ConfigError) as caught:
        parse_policy(text, "study.toml")
    error = caught.value
    assert error.code == "QG801"
    assert error.remedy
    line = next(line for line in error.detail.splitlines() if line.startswith(f"study.toml: {path}: "))
    assert accepted in line
    assert all("; accepted: " in line for line in error.detail.splitlines())


def test_all_problems_come_together_one_line_each():
    text = (
        'dataset = "D"\nk = 1\n'
        '[columns.age]\nrole = "quasi-identifier"\ntype = "integer"\ngrid = 0\ncuts = [3, 2]\n'
        '[columns.sbp]\nrole = "sensitive"\ntype = "integer"\nguard = -1\nbins = "x"\n'
        '[columns."a\\nb"]\nrole = "x"\n'
    )
    with pytest.raises(ConfigError) as caught:
        parse_policy(text)
    paths = [line.split(": ")[1] for line in caught.value.detail.splitlines()]
    assert paths == [
        *("dataset", "k", "columns.age.domain", "columns.age.grid", "columns.age.cuts"),
        *("columns.sbp.domain", "columns.sbp.guard", "columns.sbp.bins", 'columns."a\\nb".role'),
    ]


def test_one_bad_role_does_not_also_complain_about_missing_quasi_identifiers():
    with pytest.raises(ConfigError) as caught:
        parse_policy(TOP + '[columns.x]\nrole = "quasi_identifier"\ntype = "integer"\n')
    (line,) = caught.value.detail.splitlines()
    assert 'did you mean "quasi-identifier"?' in line


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ('dataset = "d"\nk == 5\n', Span(2, 4)),
        ('dataset = "d\nk = 5\n', Span(1, 13)),
        ('dataset = "d"\nk = 5\nk = 6\n', Span(3, 6)),
        ("k = [1,\n2", Span(2, 2)),
        ("k =", Span(1, 4)),
        ("[columns.a]\n[columns.a]\n", Span(2, 11)),
        ("day = 2020-02-30\n", Span(1, 7)),
    ],
)
def test_wrong_toml_is_shown_by_line_and_column(text, span):
    with pytest.raises(ConfigError) as caught:
        parse_policy(text, "study.toml")
    assert caught.value.span == span
    assert caught.value.detail.startswith(f"study.toml: line {span.line}, column {span.column}: ")
    assert "(at " not in caught.value.detail


@pytest.mark.parametrize("text", ["k = " + "9" * 5000, "k = " + "[" * 5000])
def test_absurd_input_is_an_error_and_not_a_crash(text):
    with pytest.raises(ConfigError, match="too long to read"):
        parse_policy(text)
