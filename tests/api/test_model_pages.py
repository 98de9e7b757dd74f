"""Models in the console: a table of ranges and a forest plot, refusals, and the picture as a file."""

from __future__ import annotations

from xml.etree import ElementTree

from querygate.web.console.charts.model_chart import make_model_chart
from tests.api.console_site import ConsoleSite

FORMULA = "sbp ~ bands(age) + sex"


def test_a_model_is_a_table_and_a_forest_plot(site: ConsoleSite) -> None:
    shown = site["ann"].post("/datasets/clinic/model", family="linear", formula=FORMULA)
    assert shown.status_code == 200, shown.text
    assert 'class="chart intervals"' in shown.text
    assert '<th scope="row">(intercept)</th>' in shown.text
    assert "Thin lines reach to the 95% confidence limits" in shown.text
    whole = site["ann"].post("/datasets/clinic/model", part=False, family="linear", formula=FORMULA)
    assert '<h1 class="tight">Model</h1>' in whole.text
    picture = site["ann"].get(f"/datasets/clinic/model.svg?family=linear&formula={FORMULA.replace('+', '%2B')}")
    assert picture.content_type == "image/svg+xml"
    assert ElementTree.fromstring(picture.text).tag.endswith("svg")


def test_what_is_no_model_is_refused_on_the_page(site: ConsoleSite) -> None:
    for family, formula in (("linear", "sbp"), ("linear", "nothing ~ sex"), ("cubic", FORMULA), ("linear", "")):
        refused = site["ann"].post("/datasets/clinic/model", family=family, formula=formula)
        assert refused.status_code in (400, 422), (family, formula, refused.status_code)
        assert 'role="alert"' in refused.text
    assert site["rita"].post("/datasets/clinic/model", family="linear", formula=FORMULA).status_code == 403


def table(low: float | None, high: float | None, limits: tuple[float | None, float | None]) -> dict[str, object]:
    names = ("odds_ratio", "odds_ratio_low95", "odds_ratio_high95")
    columns = [{"name": n, "kind": "key", "type": "category"} for n in ("term", "level")]
    columns += [{"name": n, "kind": "range", "type": "number"} for n in names]
    ends = ((low, high), (limits[0], limits[0]), (limits[1], limits[1]))
    row: dict[str, object] = {"term": "sex", "level": "male"}
    row |= {name: {"low": one, "high": other} for name, (one, other) in zip(names, ends, strict=True)}
    intercept = {**row, "term": "(intercept)", "level": ""}
    return {"columns": columns, "rows": [intercept, row], "mode": "interval"}


def test_limits_are_drawn_around_a_ratio_where_they_end() -> None:
    texts = [[""] * 5] * 2
    chart = make_model_chart(table(1.5, 2.0, (1.0, 4.0)), texts)  # type: ignore[arg-type]
    assert chart
    assert (chart.kind, len(chart.marks), chart.left_out) == ("ratios", 1, 0)
    [mark] = chart.marks
    assert mark.outer
    assert mark.outer[0] < mark.low < mark.high < mark.outer[1]
    unlimited = make_model_chart(table(1.5, 2.0, (None, 4.0)), texts)  # type: ignore[arg-type]
    assert unlimited
    assert unlimited.marks[0].outer is None
    assert make_model_chart(table(None, None, (1.0, 4.0)), texts) is None  # type: ignore[arg-type]
