"""Missing values are left out of noisy sums, means and quantiles, as SQL leaves them out; so their intervals cover, and
a row without a value moves nothing by more than the noise is made for."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from querygate.core.noise_ports import ExactNumber
from querygate.core.types import Catalog, Column
from querygate.custody.noise.noisy_groups import Figures
from tests.unit.custody.noise.clinic_with_gaps import Clinic, make_clinic
from tests.unit.custody.noise.exact_numbers import Priced, exact_numbers, priced, with_noise, write_vault

DRAWS = 400
COVERED = {
    "count": "SELECT COUNT(*) FROM clinic",
    "count of a column": "SELECT COUNT(temperature) FROM clinic WHERE smoker OR smoker IS NULL",
    "count of values": "SELECT COUNT(DISTINCT systolic) FROM clinic",
    "sum": "SELECT SUM(systolic) FROM clinic",
    "sum of what nobody has": "SELECT COALESCE(SUM(lactate), 0) FROM clinic",
    "mean": "SELECT AVG(systolic) FROM clinic",
    "mean far from zero": "SELECT AVG(temperature) FROM clinic WHERE age > 10",
    "groups": "SELECT ward, COUNT(*) AS n FROM clinic GROUP BY ward",
    "counts of groups": "SELECT ward, COUNT(temperature) AS n FROM clinic GROUP BY ward",
    "sums of groups": "SELECT ward, COALESCE(SUM(temperature), 0) AS n FROM clinic GROUP BY ward",
    "means of groups": "SELECT ward, AVG(temperature) AS n FROM clinic WHERE ward IN ('A', 'B', 'C') GROUP BY ward",
    "sums by a flag": "SELECT smoker, SUM(age) AS n FROM clinic GROUP BY smoker",
}
"""As DuckDB is asked for the truth; the gate tells a sum of nothing as 0, and is asked without COALESCE."""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    return make_clinic(tmp_path_factory.mktemp("clinic"))


def asked_of_the_gate(sql: str) -> str:
    return sql.replace("COALESCE(SUM(", "SUM(").replace("), 0)", ")")


def coverage(clinic: Clinic, sql: str, epsilon: float, entropy: random.Random) -> float:
    """How many of the intervals told have the truth in them; an empty group has its count and sum at zero."""
    state = clinic.counted(asked_of_the_gate(sql), epsilon)
    told = clinic.truth.execute(sql).fetchall()
    keyed = bool(state.plan.plan.keys)
    truths = {row[0] if keyed else None: row[-1] for row in told}
    groups = [_key(group) for group in state.tallied[0]] if keyed else [None]
    held: list[bool] = [
        cell["interval95"][0] <= truths.get(group, 0) <= cell["interval95"][1]
        for _ in range(DRAWS)
        for group, (cell,) in zip(groups, clinic.released(state, entropy), strict=True)
        if not ("AVG" in sql and group not in truths)  # nothing has no mean
    ]
    return sum(held) / len(held)


def _key(group: tuple[Any, ...]) -> Any:
    return {"true": True, "false": False}.get(group[0], group[0])


@pytest.mark.parametrize("form", COVERED)
def test_intervals_cover_the_truth_where_values_are_missing(form: str, clinic: Clinic) -> None:
    found = coverage(clinic, COVERED[form], 1.0 if "sum" in form else 0.05, random.Random(form))
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize(
    ("sql", "off"),
    [
        ("SELECT MEDIAN(temperature) FROM clinic", 0.1),
        ("SELECT QUANTILE_CONT(systolic, 0.05) FROM clinic", 6),
    ],
)
def test_quantiles_are_those_of_the_values_there_are(sql: str, off: float, clinic: Clinic) -> None:
    (truth,) = clinic.truth.execute(sql).fetchone() or (0,)
    state, entropy = clinic.counted(sql), random.Random(sql)
    found = sorted(clinic.released(state, entropy)[0][0]["value"] for _ in range(51))
    assert abs(found[25] - truth) < off


# -- neighbours --------------------------------------------------------------------------------------------------

WARDS = (None, "A", "B")
TEMPERATURES = (None, 35.0, 42.0)  # the ends of the domain: nothing moves a sum more
SMALL = Catalog(
    dataset="small",
    version=1,
    title="",
    k=2,
    rows=0,
    columns=(
        Column("ward", 0, "quasi-identifier", "category", True, values=("A", "B")),
        Column("temperature", 1, "sensitive", "number", True, 35.0, 42.0),
    ),
)
STATEMENTS = (
    "SELECT COUNT(*), COUNT(temperature), COUNT(DISTINCT temperature), SUM(temperature) FROM small",
    "SELECT AVG(temperature), MEDIAN(temperature), QUANTILE_CONT(temperature, 0.9) FROM small",
    "SELECT ward, COUNT(*), COUNT(temperature), SUM(temperature), AVG(temperature) FROM small GROUP BY ward",
    "SELECT ward, MEDIAN(temperature) FROM small GROUP BY ward",
    "SELECT SUM(CASE WHEN ward = 'A' THEN temperature ELSE 0 END) FROM small",
)
KINDS = tuple({"ward": ward, "temperature": temperature} for ward in WARDS for temperature in TEMPERATURES)


def lanes(figure: Figures, numbers: list[ExactNumber]) -> dict[str, tuple[dict[int, int] | int, int]]:
    """What noise is added to, with what it is made for: how far one person may move it, all groups together."""
    grid, rows = figure.grid, figure.rows
    if grid is None:
        return {"count": (numbers[0], rows)}
    if figure.release.kind == "quantile":
        return {"histogram": (numbers[0], rows)}
    if figure.release.kind == "sum":
        return {"sum": (numbers[0], grid.sum_sensitivity(rows))}
    total, known = numbers
    assert isinstance(total, int)
    assert isinstance(known, int)
    centred = 2 * total - (grid.first + grid.last) * known
    return {"centred": (centred, grid.centred_sensitivity(rows)), "count": (known, rows)}


def moved(one: dict[int, int] | int, other: dict[int, int] | int) -> int:
    if isinstance(one, int) and isinstance(other, int):
        return abs(one - other)
    assert isinstance(one, dict)
    assert isinstance(other, dict)
    return sum(abs(one.get(step, 0) - other.get(step, 0)) for step in {*one, *other})


def check_neighbours(asked: Priced, one: Any, other: Any) -> None:
    for place, figure in enumerate(asked.figures):
        apart: dict[str, int] = {}
        allowed: dict[str, int] = {}
        for group in one:
            these, those = (lanes(figure, found[group][place]) for found in (one, other))
            for name in these:
                apart[name] = apart.get(name, 0) + moved(these[name][0], those[name][0])
                allowed[name] = these[name][1]
        assert all(apart[name] <= allowed[name] for name in apart), (figure.release.kind, apart, allowed)


def test_no_row_moves_anything_by_more_than_the_noise_is_made_for(tmp_path: Path) -> None:
    """Every table of up to two rows, of three kinds of ward and three of temperature, and every row more."""
    catalog = with_noise(SMALL)
    vault = write_vault(tmp_path, catalog, KINDS)
    every = range(len(KINDS))
    for asked in (priced(sql, catalog) for sql in STATEMENTS):
        known = {
            table: exact_numbers(asked, catalog, vault, table)
            for size in range(4)
            for table in itertools.combinations_with_replacement(every, size)
        }
        for table, row in itertools.product(known, every):
            more = tuple(sorted([*table, row]))
            if more in known:
                check_neighbours(asked, known[table], known[more])


@pytest.mark.parametrize("most", [1, 2])
def test_no_person_does_either_however_many_rows_they_have(most: int, tmp_path: Path) -> None:
    """Three more rows of one person, or one of nobody known, before others with several rows and without a name: which
    of their rows are kept must not depend on the one who came."""
    catalog = with_noise(SMALL, person="who", rows_per_person=most)
    persons = "SELECT COUNT(DISTINCT who) FROM small"
    grouped = "SELECT ward, COUNT(DISTINCT who) FROM small GROUP BY ward"
    statements = [priced(sql, catalog) for sql in (*STATEMENTS, persons, grouped)]
    others = [{"who": who, **KINDS[i % len(KINDS)]} for i, who in enumerate(["p", "p", "p", "q", None, None, None])]
    before = write_vault(tmp_path / "before", catalog, others)
    first = [exact_numbers(asked, catalog, before) for asked in statements]
    for kinds, who in itertools.product(itertools.combinations(KINDS[1::2], 3), ("x", None)):
        extra = [{"who": who, **kind} for kind in kinds][: 3 if who else 1]
        after = write_vault(tmp_path / "after", catalog, [*extra, *others])
        for asked, one in zip(statements, first, strict=True):
            check_neighbours(asked, one, exact_numbers(asked, catalog, after))
