"""The guide to models prints what the program prints, and on the demo study every range holds the fit to its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from click.testing import CliRunner

from querygate import demo
from querygate.cli import main
from querygate.core.model_question import ModelQuestion
from querygate.core.types import Principal
from querygate.gate.models.model_answer import ask_model
from querygate.site.open_gate import OpenSite
from tests.docs.pages import DOCS, Block, blocks
from tests.docs.test_commands import commands

SHOWN = [b for b in blocks(DOCS / "how-to" / "fit-a-model.md") if b.language == "sh" and b.output is not None]


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_the_page_shows_what_is_printed(block: Block, demo_site: OpenSite) -> None:
    (words,) = commands(block.text)
    done = CliRunner().invoke(main, ["--site", str(demo_site.site.folder), *words])
    assert done.exit_code == 0, done.output
    assert block.output is not None
    assert done.stdout.split("\nsurvey, version ")[0].rstrip() == block.output.text.rstrip()


WIDEST = {  # of a coefficient, in standard errors of the fit
    "logistic: smoked ~ bands(age) + sex": 1e-6,
    "logistic: systolic >= 140 ~ bands(age) + sex": 1e-6,
    "poisson: smoked ~ bands(age) + sex": 1e-6,
    "logistic: smoked ~ ethnicity + bands(age) + sex": 4.0,
    "linear: systolic ~ bands(age) + sex": 7.0,
}


@pytest.mark.parametrize("asked", WIDEST)
def test_the_fit_to_the_rows_is_inside_every_range(asked: str, demo_site: OpenSite) -> None:
    family, formula = asked.split(": ")
    principal = Principal("ann", "researcher")
    body = ask_model(ModelQuestion(principal, "survey", family, formula), demo_site.gate)  # type: ignore[arg-type]
    rows = pd.read_csv(demo.HERE / "survey.csv")
    rows["band"] = pd.cut(rows.age, [0, 29, 39, 49, 59, 69, 99], labels=False)
    outcome, right = formula.split(" ~ ")
    values = rows.eval(outcome).astype(float)
    rows["outcome"] = values.where(rows[outcome.split()[0]].notna())
    written = right.replace("bands(age)", "C(band)")
    method = {"logistic": smf.logit, "poisson": smf.poisson, "linear": smf.ols}[family]
    fitted = method(f"outcome ~ {written}", rows).fit(**({} if family == "linear" else {"disp": False}))

    found = {f"{row['term']} {row['level']}": row for row in body["rows"]}
    limits = np.asarray(fitted.conf_int())
    assert len(found) == len(fitted.params)
    for k, name in enumerate(fitted.params.index):
        row = found[_named(name)]
        truths = (fitted.params.iloc[k], fitted.bse.iloc[k], limits[k, 0], limits[k, 1], fitted.pvalues.iloc[k])
        columns = ("coefficient", "standard_error", "low95", "high95", "p_value")
        for column, value in zip(columns, truths, strict=True):
            slack = 1e-8 * abs(value)
            assert row[column]["low"] - slack <= value <= row[column]["high"] + slack, (name, column)
        width = row["coefficient"]["high"] - row["coefficient"]["low"]
        assert width <= WIDEST[asked] * fitted.bse.iloc[k]


def _named(name: str) -> str:
    """patsy's name of a coefficient as the table has it."""
    levels = ("under 30", "30-39", "40-49", "50-59", "60-69", "70 and over")
    if name == "Intercept":
        return "(intercept) "
    term, _, level = name.removesuffix("]").partition("[T.")
    return f"bands(age) {levels[int(level)]}" if term == "C(band)" else f"{term} {level}"
