"""Classes of counts inside the classes of a sensitive column: which are in which, and what that tells of groups."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from querygate.bounds import nest
from querygate.core.block import (
    ALL_NULLS,
    MISSING,
    NO_NULLS,
    SOME_NULLS,
    Block,
    Dictionary,
    NumberColumn,
    RowClasses,
    SetColumn,
)
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.stats.cells import leaning_up
from tests.property.random_cases import RESEARCHER, Case
from tests.property.view_cases import Design, RawColumn, publish_margins


def boxes(*rows: tuple[int, int, int, set[int], int, int]) -> Block:
    """Classes by low, high and null state of a number, values of a category, records, frame cell."""
    low, high, null = (np.array([row[i] for row in rows]) for i in range(3))
    pairs = [(i, value) for i, row in enumerate(rows) for value in sorted(row[3])]
    number = np.arange(len(rows))
    return Block(
        np.array([row[4] for row in rows]),
        {"x": NumberColumn(low, high, null), "c": SetColumn(number, Dictionary.of(["a", "b"], pairs))},
        classified=RowClasses(number + 7, number, {}),
        frame=np.array([row[5] for row in rows]),
    )


def test_a_class_has_those_inside_its_box() -> None:
    coarse = boxes((0, 9, NO_NULLS, {0, 1}, 30, 0), (10, 19, NO_NULLS, {0}, 9, 0), (10, 19, NO_NULLS, {1}, 8, 0))
    fine = boxes(
        (0, 4, NO_NULLS, {0}, 10, 0), (5, 9, NO_NULLS, {0, 1}, 20, 0), (10, 11, NO_NULLS, {0}, 9, 0),
        (12, 19, NO_NULLS, {1}, 8, 0),
    )  # fmt: skip
    found = nest(coarse, fine)
    assert found is not None
    assert found.within.tolist() == [0, 0, 1, 2]
    assert found.is_known.all()


def test_missing_values_have_boxes_too() -> None:
    coarse = boxes((0, 9, SOME_NULLS, {MISSING}, 12, 0), (10, 19, NO_NULLS, {0, MISSING}, 9, 0))
    fine = boxes(
        (0, 0, ALL_NULLS, {MISSING}, 7, 0), (3, 4, NO_NULLS, {MISSING}, 5, 0), (10, 12, NO_NULLS, {0, MISSING}, 9, 0)
    )
    found = nest(coarse, fine)
    assert found is not None
    assert found.within.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("coarse", "fine"),
    [
        # boxes that have somebody in common
        (
            [(0, 9, 0, {0}, 5, 0), (9, 12, 0, {0}, 5, 0)],
            [(0, 3, 0, {0}, 5, 0), (10, 12, 0, {0}, 3, 0), (9, 9, 0, {0}, 2, 0)],
        ),
        # a class of counts that is in none
        (
            [(0, 9, 0, {0}, 5, 0), (10, 12, 0, {0}, 5, 0)],
            [(0, 3, 0, {0}, 5, 0), (8, 12, 0, {0}, 3, 0), (11, 11, 0, {0}, 2, 0)],
        ),
        # numbers of records that do not add up
        ([(0, 9, 0, {0}, 5, 0)], [(0, 3, 0, {0}, 5, 0), (4, 9, 0, {0}, 1, 0)]),
        # missing values that the class does not have
        ([(0, 9, 0, {0}, 5, 0)], [(0, 3, 1, {0}, 3, 0), (4, 9, 0, {0}, 2, 0)]),
    ],
)
def test_nothing_is_known_where_boxes_do_not_tell(
    coarse: list[tuple[int, int, int, set[int], int, int]], fine: list[tuple[int, int, int, set[int], int, int]]
) -> None:
    found = nest(boxes(*coarse), boxes(*fine))
    assert found is not None
    assert not found.is_known.any()


def test_what_is_not_known_of_one_frame_cell_takes_nothing_from_others() -> None:
    coarse = boxes((0, 9, 0, {0}, 5, 0), (0, 9, 0, {0}, 5, 1))
    fine = boxes((0, 3, 0, {0}, 3, 0), (4, 9, 0, {0}, 2, 0), (0, 20, 0, {0}, 5, 1))
    found = nest(coarse, fine)
    assert found is not None
    assert found.is_known.tolist() == [True, False]
    assert found.within.tolist() == [0, 0, 2]


# -- answers -----------------------------------------------------------------------------------------------------------

GRADES = ("low", "mid", "high")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Counts tell grades apart; of x, which some miss, and of ill there is one class of mid and high."""
    rng = random.Random(3)
    grade = [GRADES[min(i % 5, 2)] for i in range(60)]
    x = [None if i % 9 == 0 else rng.randrange(0, 60) for i in range(60)]
    ill = [rng.choice(["no", "yes"]) for _ in range(60)]
    columns = [
        RawColumn("grade", "quasi-identifier", "category", grade, GRADES),
        RawColumn("x", "sensitive", "integer", x, edges=[0, 10, 20, 30, 40, 50, 60]),
        RawColumn("ill", "sensitive", "category", ill, ("no", "yes")),
    ]
    units = [("x",), ("ill",)]
    joined = ["low" if one == "low" else "other" for one in grade]
    labels: dict[tuple[int, tuple[str, ...]], list[str | None]] = {(0, ()): list(grade)}
    labels |= {(0, unit): list(joined) for unit in units}
    design = Design([("grade",)], units, [0] * 60, labels)
    return publish_margins(columns, design, tmp_path_factory.mktemp("study"))


def asked(study: Case, sql: str) -> list[tuple[float, float]]:
    [group] = answer(Request(RESEARCHER, "t", sql), study.opened.gate).groups
    return [(float(found.low or 0), float(found.high or 0)) for found in group.ranges]


def test_a_mean_knows_how_many_of_a_class_are_meant(study: Case) -> None:
    """No wider than the means of all who can be the ones, at the ends of their bins; sums of classes say still more."""
    rows = study.truth.execute("SELECT grade, x, ill FROM t").fetchall()
    joined = [x for grade, x, _ in rows if grade != "low"]
    meant, missing = sum(grade == "high" for grade, _, _ in rows), sum(x is None for x in joined)
    bins = sorted(x // 10 * 10 for x in joined if x is not None)
    least = min(np.mean(bins[:n]) for n in range(meant - missing, min(meant, len(bins)) + 1))
    most = max(np.mean([b + 9 for b in bins[-n:]]) for n in range(meant - missing, min(meant, len(bins)) + 1))
    [(low, high)] = asked(study, "SELECT AVG(x) FROM t WHERE grade = 'high'")
    truth = np.mean([x for grade, x, _ in rows if grade == "high" and x is not None])
    assert least - 1e-9 <= low <= truth <= high <= most + 1e-9
    [(low, high)] = asked(study, "SELECT MEDIAN(x) FROM t WHERE grade = 'high'")
    assert bins[0] < low <= high < bins[-1] + 9


def test_a_share_knows_it_too(study: Case) -> None:
    rows = study.truth.execute("SELECT grade, x, ill FROM t").fetchall()
    meant = sum(grade == "high" for grade, _, _ in rows)
    others = sum(grade == "mid" for grade, _, _ in rows)
    yes = sum(ill == "yes" for grade, _, ill in rows if grade != "low")
    [(low, high)] = asked(study, "SELECT COUNT(*) FROM t WHERE grade = 'high' AND ill = 'yes'")
    assert (low, high) == (max(0, yes - others), min(yes, meant))


def test_the_largest_are_taken_first() -> None:
    """Against every selection of small rows."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        rows = int(rng.integers(1, 4))
        values, most = rng.integers(-3, 4, rows), rng.integers(0, 3, rows)
        least = rng.integers(0, most + 1)
        place = rng.integers(0, 2, rows)
        ways = [
            np.array(way) for way in itertools.product(*(range(a, b + 1) for a, b in zip(least, most, strict=True)))
        ]
        sums = [np.bincount(place, way, 2).astype(int) for way in ways]
        chosen = sums[int(rng.integers(len(sums)))]
        totals = np.maximum(chosen - 1, 0), chosen + 1
        allowed = [w for w, s in zip(ways, sums, strict=True) if (totals[0] <= s).all() and (s <= totals[1]).all()]
        few, many = leaning_up(values, least, most, place, totals)
        assert (least <= few).all()
        assert (few <= many).all()
        assert (many <= most).all()
        leaned = [w for w in allowed if (few <= w).all() and (w <= many).all()]
        assert max(int(values @ w) for w in leaned) == max(int(values @ w) for w in allowed)
