"""The table [views]: what silence means, what is the same written out, and what is refused by which key."""

from __future__ import annotations

import json

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import Policy, parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from tests.policies import PolicyText, code_list, make_policy, public, quasi, sensitive

AGE = quasi("integer", (0, 90), grid=1, cuts=[25, 45, 65])
SURVEY = make_policy(
    "t",
    {
        "age": AGE,
        **{name: quasi("category") for name in ("sex", "race", "education")},
        "sbp": sensitive("integer", (40, 300)),
        "bmi": sensitive("number", (10, 80), guard=2),
        "seen": sensitive("date", ("2000-01-01", "2020-01-01")),
        "ill": sensitive("category"),
    },
)
AUTO = SURVEY.but(views={"mode": "auto"})


def of_columns(*quasi_identifiers: tuple[str, dict[str, object]], **views: object) -> Policy:
    columns = {**dict(quasi_identifiers), "sbp": sensitive("integer", (40, 300))}
    return make_policy("t", columns, views=views).parsed()


def problems(text: PolicyText) -> str:
    with pytest.raises(ConfigError) as refused:
        parse_policy(text)
    assert refused.value.code == "QG801"
    return refused.value.detail


# -- by the schema -------------------------------------------------------------------------------------------------


def test_two_views_share_the_frame_and_the_first_category_and_divide_the_rest() -> None:
    rules = AUTO.parsed().views
    assert rules is not None
    assert rules.spanning == (("age", "sex", "race"), ("age", "sex", "education"))
    assert rules.frame == (("age", (25, 45, 65)),)
    assert rules.prefer == (("age", (25, 45, 65)),)
    assert (rules.values, rules.sum_cell, rules.on_uncertified, rules.linked) == (2, 3, "coarsen", ())


def test_an_empty_table_is_auto_and_no_table_or_none_is_classes_over_all_columns() -> None:
    assert parse_policy(f"{SURVEY}[views]\n").views == AUTO.parsed().views
    assert SURVEY.parsed().views is None
    assert SURVEY.but(views={"mode": "none"}).parsed() == SURVEY.parsed()
    assert "views" not in json.loads(SURVEY.parsed().canonical())


def test_with_three_quasi_identifiers_or_fewer_there_is_one_view() -> None:
    assert of_columns(("age", AGE), ("sex", quasi("category")), ("race", quasi("category"))).views.views == (
        ("age", "sex", "race"),
    )
    assert of_columns(("sex", quasi("category"))).views.views == (("sex",),)


def test_without_a_number_there_is_no_frame_and_without_a_category_the_frame_alone_is_shared() -> None:
    texts = of_columns(*((name, quasi("category")) for name in "abcd")).views
    assert (texts.frame, texts.spanning) == ((), (("a", "b", "c"), ("a", "d")))
    numbers = of_columns(*((name, quasi("integer", (0, 100))) for name in "abcd")).views
    assert numbers.spanning == (("a", "b", "c"), ("a", "d"))
    assert numbers.frame == (("a", tuple(range(10, 100, 10))),)


@pytest.mark.parametrize(
    ("column", "most"),
    [
        (quasi("number", (0.05, 0.4), grid=0.01), 12),
        (quasi("date", ("1990-01-01", "2024-06-01")), 12),
        (quasi("timestamp", ("1990-01-01T00:00:00", "1990-01-01T00:00:09")), 12),
        (quasi("integer", (0, 1)), 2),
        (quasi("integer", (0, 1000), edges=[1, 2, 3]), 5),
        (quasi("integer", (0, 1000), cuts=list(range(1, 900))), 12),
    ],
)
def test_a_frame_has_some_cells_whatever_the_column(column: dict[str, object], most: int) -> None:
    ((name, cuts),) = of_columns(("x", column)).views.frame
    assert name == "x"
    assert len(cuts) < most
    assert list(cuts) == sorted(set(cuts))


def test_what_is_written_out_means_the_same() -> None:
    written = SURVEY.but(
        views={
            "mode": "spanning",
            "spanning": [["age", "sex", "race"], ["age", "sex", "education"]],
            "frame": ["age"],
            "prefer": {"age": [25, 45, 65]},
            "values": 2,
            "sum_cell": 3,
            "extra": [["race", "education"]],
            "linked": [],
        }
    )
    assert written.parsed().hash == AUTO.parsed().hash != SURVEY.parsed().hash
    assert AUTO.but(views={"values": 3}).parsed().hash != AUTO.parsed().hash
    linked = [AUTO.but(views={"linked": [pair]}).parsed() for pair in (["sbp", "bmi"], ["bmi", "sbp"])]
    assert linked[0].hash == linked[1].hash


def test_a_kept_policy_has_its_views() -> None:
    policy = AUTO.but(views={"linked": [["sbp", "ill"]], "extra": [["race", "education"]]}).parsed()
    assert read_policy(write_policy(policy)) == policy


def test_nobody_is_warned_of_classes_of_one_value_where_none_is_certain() -> None:
    assert any("ill.diversity" in warning for warning in SURVEY.parsed().warnings)
    assert AUTO.parsed().warnings == ()


def test_a_guard_that_the_usual_grid_is_too_coarse_for_is_a_warning() -> None:
    crp = sensitive("number", (0, 600), guard=2)
    (warning,) = AUTO.but(columns={"crp": crp}).parsed().warnings
    assert warning.startswith("columns.crp.guard: narrower than the bins")
    assert "set grid" in warning
    for enough in ({"grid": 0.5}, {"bins": 1.0}, {"guard": 40}):
        assert AUTO.but(columns={"crp": crp | enough}).parsed().warnings == ()


# -- refused -------------------------------------------------------------------------------------------------------


def test_classes_beside_views_are_refused_with_the_reason() -> None:
    said = problems(SURVEY.but(views={"mode": "beside"}))
    assert "views.mode: is refused" in said
    assert "complete records" in said


@pytest.mark.parametrize(
    ("views", "key"),
    [
        ({"mode": "spanning"}, "views.spanning"),
        ({"mode": "auto", "spanning": [["age"]]}, "views.spanning: does not apply to mode auto"),
        ({"mode": "none", "values": 3}, "views.values: does not apply to mode none"),
        ({"spanning": [["age", "sex"]]}, "views.spanning: leaves out education, race"),
        ({"spanning": [["age", "sbp"]]}, "views.spanning: names sbp"),
        ({"spanning": [["age", "age"]]}, "views.spanning: names a column twice"),
        ({"spanning": [["age"], ["sex"], ["race"]]}, "views.spanning"),
        ({"spanning": "age"}, "views.spanning"),
        ({"spanning": [[]]}, "views.spanning"),
        ({"spanning": [["age", "sex", "race", "education"]] * 2}, "views.spanning: names the same columns twice"),
        ({"frame": ["sbp"]}, "views.frame: names sbp"),
        ({"frame": 3}, "views.frame"),
        ({"extra": [["ghost"]]}, "views.extra: names ghost"),
        ({"prefer": {"sex": [1]}}, "views.prefer: sex is not"),
        ({"prefer": {"age": [50, 40]}}, "views.prefer: the cuts of age"),
        ({"prefer": {"age": [0]}}, "views.prefer: the cuts of age"),
        ({"prefer": 5}, "views.prefer: must be a table"),
        ({"linked": [["sbp"]]}, "views.linked"),
        ({"linked": [["sbp", "age"]]}, "views.linked: names age"),
        ({"linked": [["sbp", "bmi"], ["bmi", "ill"]]}, "views.linked: has bmi in several groups"),
        ({"values": 1}, "views.values"),
        ({"sum_cell": 0}, "views.sum_cell"),
        ({"on_uncertified": "ignore"}, "views.on_uncertified"),
        ({"view": []}, "views.view: unknown key"),
    ],
)
def test_a_wrong_table_is_refused_by_its_key(views: dict[str, object], key: str) -> None:
    assert key in problems(SURVEY.but(views=views))


@pytest.mark.parametrize(
    ("views", "said"),
    [
        (
            {"spanning": [["age", "sex", "sbp"], ["age", "race"]]},
            "views.spanning: names sbp, but that is not a quasi-identifier",
        ),
        (
            {"spanning": [["age", "sex", "race", "education"]], "extra": [["age", "ghost"]]},
            "views.extra: names ghost, but that is not a quasi-identifier",
        ),
        ({"linked": ["sbp", "bmi"]}, "views.linked: is not a list of lists"),
        ({"spanning": ["age", "sex"]}, "views.spanning: is not a list of lists"),
        ({"spanning": [["age"], ["sex"], ["race", "education"]]}, "views.spanning: has 3 lists"),
        ({"spanning": []}, "views.spanning: is empty"),
        ({"mode": "spanning"}, "views.spanning: is missing"),
        ({"spanning": [["age", "sex"], ["age", "ghost"], ["race"]]}, "views.spanning: names ghost"),
    ],
)
def test_only_the_real_mistake_is_told_and_once(views: dict[str, object], said: str) -> None:
    (line,) = [line for line in problems(SURVEY.but(views=views)).splitlines() if "views." in line]
    assert said in line


def test_what_to_write_instead_of_a_wrong_list() -> None:
    assert 'such as [["sbp", "bmi"]]' in problems(SURVEY.but(views={"linked": ["sbp", "bmi"]}))
    three = problems(SURVEY.but(views={"spanning": [["age"], ["sex"], ["race", "education"]]}))
    assert "one or two lists of quasi-identifiers; more of them go to extra" in three
    assert "in some list of spanning or of extra" in problems(SURVEY.but(views={"spanning": [["age", "sex"]]}))


def test_a_table_that_is_none_is_refused() -> None:
    assert "views: must be a table" in problems(SURVEY.but(views=3))


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"anonymise": {"method": "mondrian"}}, "anonymise.method"),
        ({"anonymise": {"edges": "tight"}}, "anonymise.edges"),
        ({"anonymise": {"class_moments": "rounded"}}, "anonymise.class_moments"),
        ({"anonymise": {"statistics": ["mean(sbp)"]}}, "anonymise.statistics"),
        ({"anonymise": {"search": "blind"}}, "anonymise.search"),
        ({"k_map": {"population": "p.csv", "k": 9}}, "k_map"),
        ({"republish": {"on_overlap": "sticky"}}, "republish.on_overlap"),
        ({"republish": {"few_changes": "report"}}, "republish.few_changes"),
        ({"columns": {"year": public("integer")}}, "columns.year.domain"),
        ({"columns": {"icd": code_list("icd10")}}, "columns.icd.role"),
        ({"columns": {"sbp": {"carry": "hull"}}}, "columns.sbp.carry"),
        ({"columns": {"sbp": {"carry": "univariate"}}}, "columns.sbp.carry"),
        ({"columns": {"sbp": {"carry": "joint"}}}, "columns.sbp.carry"),
        ({"columns": {"sbp": {"guard": 0}}}, "columns.sbp.guard"),
        ({"columns": {"bmi": {"domain": [0, 1e15], "guard": 1, "bins": 1e14, "grid": 1e13}}}, "columns.bmi.guard"),
        ({"columns": {"sbp": {"domain": [0, 2**60], "guard": 2**50}}}, "columns.sbp.domain"),
    ],
)
def test_what_views_cannot_keep_is_refused_by_the_key_that_asks_for_it(changes: dict[str, object], key: str) -> None:
    said = problems(AUTO.but(**changes))
    (line,) = [line for line in said.splitlines() if key in line]
    assert "the dataset is published as views" in line
    assert "accepted:" in line


def test_keys_that_say_what_holds_anyway_are_taken() -> None:
    usual = {"method": "auto", "edges": "grid", "class_moments": "none", "search": "guarded"}
    assert AUTO.but(anonymise=usual, republish={"on_overlap": "retire"}).parsed().views == AUTO.parsed().views
    assert AUTO.but(columns={"seen": {"guard": 0}}).parsed().views  # no sums of dates are told


def test_bins_may_be_narrower_than_the_guard_in_views_alone() -> None:
    narrow = AUTO.but(columns={"sbp": {"bins": 2, "guard": 10}})
    assert narrow.parsed().column("sbp").bins == 2
    for classes in (narrow.but(views=None), narrow.but(views={"mode": "none"})):
        assert "columns.sbp.bins: has a bin narrower than the guard; accepted: bins at least 10" in problems(classes)


@pytest.mark.parametrize(("grid", "guard", "bins"), [(1, 10, 3), (5, 10, 5), (1, 2, 1), (0.5, 3, 1.0), (0.1, 2, 0.5)])
def test_where_the_file_is_silent_four_bins_make_a_guard(grid: float, guard: float, bins: float) -> None:
    kind = "integer" if isinstance(grid, int) else "number"
    column = sensitive(kind, (0, 100), grid=grid, guard=guard)
    silent = AUTO.but(columns={"x": column})
    assert silent.parsed().column("x").bins == bins
    assert silent.but(views=None).parsed().column("x").bins == max(2 * grid, guard)
