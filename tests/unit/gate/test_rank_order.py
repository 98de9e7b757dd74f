"""Statistics of order through the whole gate: what scipy makes of the raw rows is inside every range."""

from __future__ import annotations

import math

import pytest
from scipy.stats import kendalltau, mannwhitneyu, spearmanr

from querygate.core.errors import Refusal
from querygate.core.types import Answer, Principal, Request
from querygate.gate.answer import answer
from querygate.site.open_gate import OpenSite
from tests.wide_study import make_rows

ROWS = make_rows().to_pandas()
KNOWN = ROWS[ROWS.weight.notna()]
LARGE = KNOWN.age >= 50


def _ask(site: OpenSite, sql: str) -> Answer:
    return answer(Request(Principal("ann", "researcher"), "study", sql), site.gate)


def _u(selected: object) -> float:
    return float(mannwhitneyu(KNOWN.weight[selected], KNOWN.weight[~selected]).statistic)  # type: ignore[index, operator]


CASES = {
    "MANN_WHITNEY(weight, sex = 'M')": _u(KNOWN.sex == "M"),
    "SUPERIORITY(weight, sex = 'M')": _u(KNOWN.sex == "M") / ((KNOWN.sex == "M").sum() * (KNOWN.sex != "M").sum()),
    "SUPERIORITY(weight, age >= 43)": _u(KNOWN.age >= 43) / ((KNOWN.age >= 43).sum() * (KNOWN.age < 43).sum()),
    "SPEARMAN(sbp, age)": float(spearmanr(ROWS.sbp, ROWS.age).statistic),
    "KENDALL(sbp, age)": float(kendalltau(ROWS.sbp, ROWS.age).statistic),
    "SPEARMAN(weight, age)": float(spearmanr(KNOWN.weight, KNOWN.age).statistic),
    "KENDALL(weight, age)": float(kendalltau(KNOWN.weight, KNOWN.age).statistic),
}


@pytest.mark.parametrize("sql", CASES)
@pytest.mark.parametrize("how", ["classes", "views"])
def test_what_software_says_of_the_rows_is_inside(sql: str, how: str, request: pytest.FixtureRequest) -> None:
    (group,) = _ask(request.getfixturevalue(how), f"SELECT {sql} FROM study").groups
    (found,), (estimate,) = group.ranges, group.estimates

    assert found.low is not None
    assert found.high is not None
    assert found.low <= CASES[sql] <= found.high
    assert estimate.value is None or found.low <= estimate.value <= found.high
    assert math.isfinite(found.high - found.low)
    if not sql.startswith("MANN"):
        assert found.high - found.low < 0.75


def test_two_sensitive_columns_that_are_not_linked_are_refused(views: OpenSite) -> None:
    with pytest.raises(Refusal) as caught:
        _ask(views, "SELECT SPEARMAN(sbp, weight) FROM study")

    assert caught.value.code == "QG217"
    assert "linked" in caught.value.remedy


@pytest.mark.parametrize(
    "sql", ["SPEARMAN(sbp)", "KENDALL(sbp, sex)", "MANN_WHITNEY(sbp, age)", "SUPERIORITY(sex, age > 4)"]
)
def test_arguments_are_checked(classes: OpenSite, sql: str) -> None:
    with pytest.raises(Refusal):
        _ask(classes, f"SELECT {sql} FROM study")


def test_a_constant_column_has_no_correlation(classes: OpenSite) -> None:
    (group,) = _ask(classes, "SELECT KENDALL(sbp, age * 0) AS k FROM study").groups

    assert group.ranges[0].is_null
