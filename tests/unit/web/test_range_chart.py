"""Pictures of answers: every range is drawn where it is, whatever the figures are."""

from __future__ import annotations

import math

from querygate.web.console.range_chart import LABELS, MOST_ROWS, WIDTH, make_charts
from tests.each import each


def body(values, names=("sex",), column="avg_sbp", keys=None):
    keys = keys or [tuple(f"v{i}" for _ in names) for i in range(len(values))]
    columns = [{"name": name, "kind": "key", "type": "category"} for name in names]
    columns.append({"name": column, "kind": "range", "type": "number"})
    rows = [
        dict(zip(names, key, strict=True)) | {column: value, "_group": {"certain": i % 2 == 0, "count": {}}}
        for i, (key, value) in enumerate(zip(keys, values, strict=True))
    ]
    return {"columns": columns, "rows": rows, "mode": "interval"}


def ends(low, high, estimate=None):
    return {"low": low, "high": high, "estimate": estimate, "sharp": True, "may_be_null": False}


def texts(told):
    return [[str(cell) for cell in row.values()] for row in told["rows"]]


def draw(values, **more):
    told = body(values, **more)
    return make_charts(told, texts(told))


HOSTILE = [
    [ends(0, 0)],
    [ends(5, 5, 5), ends(5, 5, 5)],
    [ends(1e-320, 2e-320)],
    [ends(-3, -1, -2), ends(-7.5, 0)],
    [ends(10**20, 10**20 + 1)],
    [ends(0.1 + 0.2, 0.3)],
]


@each("values", HOSTILE)
def test_marks_are_inside_the_picture_and_in_order(values):
    (chart,) = draw(values)
    assert len(chart.marks) == len(values)
    for mark in chart.marks:
        places = (mark.low, mark.high, *([] if mark.estimate is None else [mark.estimate]))
        assert all(math.isfinite(place) and LABELS - 1e-6 <= place <= WIDTH for place in places)
        assert mark.low <= mark.high + 1e-9
    assert 1 <= len(chart.ticks) <= 13


def test_what_has_no_finite_ends_is_left_out_and_counted():
    open_ended = [
        ends(None, None),
        ends(-1e308, 1e308),
        ends("-inf", 3),
        ends(1, math.inf),
        ends(float("nan"), 1),
        ends(1, 2),
    ]
    (chart,) = draw(open_ended)
    assert (len(chart.marks), chart.left_out) == (1, 5)
    assert draw(open_ended[:5]) == ()
    assert draw([]) == ()


def test_a_range_is_drawn_to_scale():
    (chart,) = draw([ends(0, 10, 5), ends(10, 20)])
    first, second = chart.marks
    assert math.isclose(first.high, second.low)
    assert math.isclose(first.estimate, (first.low + first.high) / 2)
    assert (first.certain, second.certain) == (True, False)


def test_counts_are_bars_from_zero_and_ratios_are_compared_with_one():
    (bars,) = draw([ends(5, 9)], column="count")
    assert (bars.kind, bars.zero) == ("bars", LABELS)
    (ratios,) = draw([ends(0.5, 2)], column="odds_ratio")
    assert ratios.kind == "ratios"
    assert math.isclose(ratios.zero, (ratios.marks[0].low + ratios.marks[0].high) / 2)
    (with_zero,) = draw([ends(0, 2)], column="odds_ratio")
    assert with_zero.kind == "intervals"


def test_ordered_groups_are_a_ribbon_in_the_order_of_their_keys():
    values = [ends(1, 2, 1.5), ends(3, 4, 3.5), ends(2, 5, 3), ends(0, 1, 0.5)]
    (chart,) = draw(values, names=("decade",), keys=[(30,), (10,), (20,), (40,)])
    assert chart.kind == "ribbon"
    assert [mark.label for mark in chart.marks] == ["10", "20", "30", "40"]
    assert all(before.at < after.at for before, after in zip(chart.marks, chart.marks[1:], strict=False))
    assert all(mark.high <= mark.low for mark in chart.marks)  # from top to bottom
    (with_null,) = draw(values, names=("decade",), keys=[(30,), (None,), (20,), (40,)])
    assert with_null.kind == "intervals"


def test_long_answers_are_drawn_in_part():
    (chart,) = draw([ends(i, i + 1) for i in range(MOST_ROWS + 5)])
    assert (len(chart.marks), chart.left_out) == (MOST_ROWS, 5)


def test_noisy_numbers_are_drawn_with_their_interval():
    value = {"value": 10, "interval95": [7, 13], "noise": "laplace", "scale": 1.0, "epsilon": 0.1}
    (chart,) = draw([value])
    assert math.isclose(chart.marks[0].estimate, (chart.marks[0].low + chart.marks[0].high) / 2)
    (without,) = draw([{**value, "interval95": None}])
    assert without.marks[0].low == without.marks[0].high
