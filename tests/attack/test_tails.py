"""An outlier hides in the tail: no question tells where in the joined tail bin it is, at the top or at the bottom."""

from __future__ import annotations

import json
from itertools import cycle, islice
from pathlib import Path

import pytest

from querygate.site.open_gate import OpenSite
from tests.policies import AGE, make_policy, sensitive
from tests.unit.custody.publish.publications import ask, ends, new_site, put

K = 5
LOW, HIGH, BIN = 0, 300, 10
POLICY = make_policy("t", {"age": AGE, "sbp": sensitive("integer", (LOW, HIGH), bins=BIN, guard=BIN)}, k=K)
ORDINARY = [102, 108, 113, 117, 121, 129]  # two in each of three bins


def published(folder: Path, tail: list[int]) -> OpenSite:
    """Thirty ordinary people and a tail."""
    folder.mkdir()
    opened = new_site(folder)
    values = [*islice(cycle(ORDINARY), 30), *tail]
    put(opened, POLICY, {"age": list(range(30, 30 + len(values))), "sbp": values})
    return opened


def everything_told(opened: OpenSite) -> list[str]:
    """All that MIN, MAX, SUM, AVG and a search over every threshold and interval can say of the column."""
    asked = ["SELECT MIN(sbp), MAX(sbp), AVG(sbp), SUM(sbp), COUNT(sbp) FROM t"]
    asked += [f"SELECT COUNT(*), MAX(sbp) FROM t WHERE sbp > {t}" for t in range(LOW - 1, HIGH + 1, 19)]
    asked += [
        f"SELECT COUNT(*), MIN(sbp), AVG(sbp) FROM t WHERE sbp BETWEEN {t} AND {t + 30}" for t in range(LOW, HIGH, 29)
    ]
    return [json.dumps(ask(opened, sql)) for sql in asked]


def search(opened: OpenSite, *, top: bool) -> tuple[int, int]:
    """Binary search for the largest (or smallest) value: where somebody is for certain, and where nobody can be."""
    certain, possible = (LOW, HIGH) if top else (HIGH, LOW)

    def beyond(t: int) -> tuple[int, int]:
        return ends(opened, "COUNT(*)", f"sbp >= {t}" if top else f"sbp <= {t}")

    thresholds = range(LOW, HIGH + 1) if top else range(HIGH, LOW - 1, -1)
    certain = bisect(thresholds, lambda t: beyond(t)[0] > 0)
    possible = bisect(thresholds, lambda t: beyond(t)[1] > 0)
    return (certain, possible) if top else (possible, certain)


def bisect(thresholds: range, holds) -> int:
    """The last threshold for which it holds."""
    first, last = 0, len(thresholds) - 1
    while first < last:
        middle = (first + last + 1) // 2
        first, last = (middle, last) if holds(thresholds[middle]) else (first, middle - 1)
    return thresholds[first]


@pytest.mark.parametrize(
    "tails",
    [
        pytest.param([[152], [205], [299]], id="one at the top"),
        pytest.param([[3], [47], [88]], id="one at the bottom"),
        pytest.param(
            [[131, 132, 133, 134, 158], [131, 132, 133, 134, 207], [131, 132, 133, 134, 300]], id="a sparse top"
        ),
        pytest.param([[88, 87, 86, 85, 61], [88, 87, 86, 85, 12], [88, 87, 86, 85, 0]], id="a sparse bottom"),
        pytest.param([[7, 155], [66, 222], [80, 300]], id="one at each end"),
    ],
)
def test_wherever_the_outlier_is_the_answers_are_the_same(tmp_path: Path, tails: list[list[int]]) -> None:
    first, *others = (everything_told(published(tmp_path / str(i), tail)) for i, tail in enumerate(tails))

    assert all(told == first for told in others)


def test_a_search_finds_the_tail_bin_and_no_more(tmp_path: Path) -> None:
    opened = published(tmp_path / "site", [7, 205])

    for top, value in ((True, 205), (False, 7)):
        low, high = search(opened, top=top)
        assert low <= value <= high
        assert (high if top else low) == (HIGH if top else LOW)
        assert high - low > 10 * BIN
    assert ends(opened, "MAX(sbp)")[1] == HIGH
    assert ends(opened, "MIN(sbp)")[0] == LOW


def test_a_full_bin_is_found_and_that_proves_the_search(tmp_path: Path) -> None:
    """k people in the last bin are not an outlier: the same search comes as close as the bin."""
    opened = published(tmp_path / "site", [201, 203, 205, 207, 209])

    assert search(opened, top=True) == (200, 209)
