"""Pictures of answers: every range is drawn where it is, whatever the figures are."""

from __future__ import annotations

import math

from querygate.gate import render
from querygate.web.console.charts.answer_charts import MOST_ROWS, make_charts
from querygate.web.console.charts.chart import LABELS, WIDTH
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


def draw(values, sql="", **more):
    told = body(values, **more)
    return make_charts(told, texts(told), sql)


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


@each("label", ["", "a", "W" * 40, "other or multiple, " * 3, "中文" * 20, "Größe 1,5 bis 2"])
def test_a_label_that_is_too_long_ends_in_an_ellipsis_and_keeps_its_first_letters(label):
    (chart,) = draw([ends(1, 2)], keys=[(label,)])
    for shown in (chart.marks[0].short, chart.marks[0].shorter):
        assert shown == label or (shown.endswith("…") and label.startswith(shown[:-1]) and len(shown) > 5)
    assert len(chart.marks[0].short) <= 178 / 4.8
    assert len(chart.marks[0].shorter) <= len(chart.marks[0].short)


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
    (named,) = draw([ends(0.5, 2)], column="r", sql="SELECT sex, ODDS_RATIO(a, b) AS r FROM t GROUP BY sex")
    assert named.kind == "ratios"
    (not_one,) = draw([ends(0.5, 2)], column="odds_ratio", sql="SELECT sex, AVG(a) AS odds_ratio FROM t GROUP BY sex")
    assert not_one.kind == "intervals"


@each("value", [ends(0, 2), ends(0.5, None), ends(0, None), ends(None, 3), ends(1, 1), ends(1e-200, 1e200)])
def test_a_ratio_without_an_end_goes_on_beyond_the_picture(value):
    charts = draw([value, ends(0.5, 4, 2)], column="odds_ratio")
    assert [chart.kind for chart in charts] == ["ratios"]
    marks, left_out = charts[0].marks, charts[0].left_out
    assert len(marks) + left_out == 2
    assert all(LABELS - 1e-6 <= place <= WIDTH for mark in marks for place in (mark.low, mark.high, charts[0].zero))
    if left_out == 0:
        assert marks[0].open_low == (not value["low"])
        assert marks[0].open_high == (value["high"] is None)
    assert 1 <= len(charts[0].ticks) <= 13


def test_ordered_groups_are_a_ribbon_in_the_order_of_their_keys():
    values = [ends(1, 2, 1.5), ends(3, 4, 3.5), ends(2, 5, 3), ends(0, 1, 0.5)]
    (chart,) = draw(values, names=("decade",), keys=[(30,), (10,), (20,), (40,)])
    assert chart.kind == "ribbon"
    assert [mark.label for mark in chart.marks] == ["10", "20", "30", "40"]
    assert all(before.at < after.at for before, after in zip(chart.marks, chart.marks[1:], strict=False))
    assert all(mark.high <= mark.low for mark in chart.marks)  # from top to bottom
    assert chart.area.count(",") == 8
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


def test_of_a_noisy_count_nothing_is_said_to_be_certain():
    value = {"value": 10, "interval95": [7, 13], "noise": "laplace", "scale": 1.0, "epsilon": 0.1}
    told = body([value] * 5, column="count", keys=[(float(i),) for i in range(5)]) | {"mode": "laplace"}
    (chart,) = make_charts(told, texts(told), "SELECT age, COUNT(*) FROM t GROUP BY age")
    assert chart.kind not in ("bars", "histogram")
    assert "95 of 100" in chart.hint
    assert "certain" not in chart.hint


def quantile_body(levels, rows):
    columns = [{"name": f"q{level}", "kind": "range", "type": "number"} for level in levels]
    told = [dict(zip((c["name"] for c in columns), row, strict=True)) | {"_group": {"certain": True}} for row in rows]
    return {"columns": columns, "rows": told, "mode": "interval"}


QUANTILES = "SELECT QUANTILE_CONT(x, 0.1) AS a, MEDIAN(x), QUANTILE_CONT(x, 0.9) FROM t"


def test_quantiles_of_one_column_are_the_steps_between_which_the_curve_runs():
    told = quantile_body((0.1, 0.5, 0.9), [[ends(0, 4, 2), ends(2, 3, 2.5), ends(5, 10, 6)]])
    (chart,) = make_charts(told, texts(told), QUANTILES)
    assert (chart.kind, chart.column) == ("steps", "Distribution of x")
    first, median, last = chart.marks
    assert first.at > median.at > last.at  # from bottom to top
    assert math.isclose(first.high, median.high)  # no quantile exceeds one of a larger share
    assert first.low < median.low < last.low < last.high
    points = [tuple(map(float, point.split(","))) for point in chart.area.split()]
    assert {x for x, _ in points} <= {round(end, 1) for m in chart.marks for end in (m.low, m.high)}
    assert {y for _, y in points} == {round(m.at, 1) for m in chart.marks}


def test_a_distribution_is_drawn_only_where_it_is_bounded():
    whole = [ends(0, 4), ends(2, 3), ends(5, 10)]
    open_ended = [ends(0, 4), ends(2, 3), ends(5, None)]
    for told in (
        quantile_body((0.1, 0.5, 0.9), [open_ended]),
        quantile_body((0.1, 0.5, 0.9), [whole] * 4),
        quantile_body((0.1, 0.5, 0.9), [whole]) | {"mode": "laplace"},
        quantile_body((0.1, 0.5, 0.9), []),
    ):
        assert all(chart.kind == "intervals" for chart in make_charts(told, texts(told), QUANTILES))
    told = quantile_body((0.1, 0.5, 0.9), [whole])
    for sql in (
        "SELECT QUANTILE_CONT(x, 0.1), MEDIAN(y), QUANTILE_CONT(x, 0.9) FROM t",
        "SELECT QUANTILE_CONT(x, 0.1), MEDIAN(x) FILTER (WHERE y), QUANTILE_CONT(x, 0.9) FROM t",
        "SELECT QUANTILE_DISC(x, 0.1), MEDIAN(x), QUANTILE_DISC(x, 0.9) FROM t",
        "SELECT QUANTILE_CONT(x, 0.1), MEDIAN(x) FROM t",
        "not SQL at all",
    ):
        assert [chart.kind for chart in make_charts(told, texts(told), sql)] == ["intervals"] * 3


def test_shares_above_thresholds_never_rise():
    told = quantile_body((1, 2, 3), [[ends(0.5, 0.9), ends(0.6, 0.95), ends(0.1, 0.2)]])
    sql = "SELECT EXCEEDANCE(x, 10), EXCEEDANCE(x, 20), EXCEEDANCE(x, 30) FROM t"
    (chart,) = make_charts(told, texts(told), sql)
    first, second, third = chart.marks
    assert first.at < second.at < third.at
    assert first.high == second.high  # no more are above 20 than above 10
    assert first.low == second.low


def count_body(keys, values, kind="number"):
    told = body(values, names=("bin",), column="count", keys=[(key,) for key in keys])
    told["columns"][0]["type"] = kind
    return told


def test_counts_in_ordered_bins_are_a_histogram():
    values = [ends(5, 9), ends(2, 2), ends(0, 4)]
    told = count_body([30, 10, 20], values)
    (chart,) = make_charts(told, texts(told))
    assert chart.kind == "histogram"
    assert [mark.label for mark in chart.marks] == ["10", "20", "30"]
    assert math.isclose(chart.marks[1].at - chart.marks[0].at, chart.thickness)
    told = count_body([10, 20, 50], values)
    (gap,) = make_charts(told, texts(told))
    assert math.isclose(gap.marks[2].at - gap.marks[1].at, 3 * gap.thickness)


@each(
    "keys, kind, expected",
    [
        (["60+", "under 40", "40-59"], "category", ["under 40", "40-59", "60+"]),
        (["2024-03-01", "2023-12-01", "2024-01-01"], "date", ["2023-12-01", "2024-01-01", "2024-03-01"]),
        (["<18.5", "30 and more", "18.5 to 25"], "category", ["<18.5", "18.5 to 25", "30 and more"]),
    ],
)
def test_bands_and_days_stand_in_their_order(keys, kind, expected):
    told = count_body(keys, [ends(1, 2)] * 3, kind)
    (chart,) = make_charts(told, texts(told))
    assert (chart.kind, [mark.label for mark in chart.marks]) == ("histogram", expected)


@each("place", [0, 2, 3])
@each("keys, kind", [([10.0, 20.0, 30.0], "number"), (["10-19", "20-29", "30+"], "category")])
def test_missing_values_are_a_bar_apart_from_the_histogram(keys, kind, place):
    told = count_body([*keys[:place], None, *keys[place:]], [ends(1, 2, 1)] * 4, kind)
    (chart,) = make_charts(told, texts(told))
    expected = ["10", "20", "30"] if kind == "number" else keys
    assert (chart.kind, [mark.label for mark in chart.marks]) == ("histogram", [*expected, "NULL"])
    assert math.isclose(chart.marks[3].at - chart.marks[2].at, 2 * chart.thickness)
    assert chart.marks[3].at < WIDTH
    assert [tick.text for tick in chart.across] == [*expected, "NULL"]


def test_a_sum_over_all_bins_is_no_bin():
    told = count_body([10, 20, 30, None], [ends(1, 2)] * 4)
    told["rows"][3]["_group"]["rolled_up"] = ["bin"]
    (chart,) = make_charts(told, texts(told))
    assert (chart.kind, chart.marks[3].label) == ("bars", "(all)")


@each("keys, expected", [([80.0, 100.0], ["80", "100"]), ([80.0, 100.5], ["80.0", "100.5"]), ([1e300], ["1e+300"])])
def test_whole_numbers_are_labelled_without_a_point(keys, expected):
    told = count_body(keys, [ends(1, 2)] * len(keys))
    (chart,) = make_charts(told, texts(told))
    assert [mark.label for mark in chart.marks] == expected


@each("keys", [["a", "b", "c"], ["40-59", "40-49", "1"], [True, False, None], [1, 2, None], [1, 1.5, 1000]])
def test_what_has_no_order_or_no_common_width_is_no_histogram(keys):
    told = count_body(keys, [ends(1, 2)] * 3)
    (chart,) = make_charts(told, texts(told))
    assert chart.kind == "bars"


def test_real_answers_are_drawn_as_people_read_them():
    told = quantile_body((0.1, 0.5, 0.9), [[ends(0, 4, 2), ends(2, 3, 2.5), ends(5, 10, 6)]])
    _, rows = render.readable(told | {"notes": []})
    (chart,) = make_charts(told, rows, QUANTILES)
    assert chart.marks[0].text.startswith("0 .. 4")
