"""Models in the console: a table of ranges and a forest plot, refusals, and the picture as a file."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from querygate.web.console.charts.model_chart import make_model_chart
from tests.api.console_site import ConsoleSite

FORMULA = "sbp ~ bands(age) + sex"


def test_a_model_is_a_table_and_a_forest_plot(site: ConsoleSite) -> None:
    shown = site["ann"].post("/datasets/clinic/model", family="linear", formula=FORMULA)
    assert shown.status_code == 200, shown.text
    assert 'class="chart intervals"' in shown.text
    assert '<th scope="row">(intercept)</th>' in shown.text
    assert "Thin lines show the 95% confidence limits" in shown.text
    whole = site["ann"].post("/datasets/clinic/model", part=False, family="linear", formula=FORMULA)
    assert '<h1 class="tight">Model</h1>' in whole.text


def test_a_model_is_looked_at_again_without_asking_it_again(site: ConsoleSite) -> None:
    fitted = site["ann"].post("/datasets/clinic/model", family="linear", formula=FORMULA, where="age >= 40")
    address = re.search(r'href="(/models/q_\w+)"', fitted.text)
    assert address
    assert "Compared with <strong>bands(age)</strong> = " in fitted.text
    assert "<strong>sex</strong> = F" in fitted.text
    asked = site.kinds()
    again = site["ann"].get(address[1])
    table = again.text[again.text.index("<table>") : again.text.index("</table>")]
    assert table in fitted.text
    assert "sbp ~ bands(age) + sex where age &gt;= 40" in again.text
    picture = site["ann"].get(f"{address[1]}/chart.svg")
    assert picture.content_type == "image/svg+xml"
    assert ElementTree.fromstring(picture.text).tag.endswith("svg")
    assert site["ann"].get(f"{address[1]}/csv").text.startswith("term,level,coefficient_low,")
    assert f'<a href="{address[1]}">model</a>' in site["ann"].get("/history").text
    assert site.kinds() == asked
    assert site["ann"].get("/datasets/clinic/model.svg?family=linear&formula=x").status_code == 404
    for path in (address[1], f"{address[1]}/csv", f"{address[1]}/chart.svg"):
        assert site["bob"].get(path).status_code == site["ann"].get(path.replace("q_", "q_0")).status_code == 404


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
