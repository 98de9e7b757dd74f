"""A column that is told to nobody is told to the custodian when it is published."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from querygate.cli.dataset import explain_report
from tests.policies import make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, put

NUMBER = 160
POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 100), grid=1, cuts=[30, 60]),
        "sex": quasi("boolean"),
        "assay": sensitive("integer", (0, 99), guard=2),
        "never": sensitive("category", values=["flu", "gout"]),
        "rare": sensitive("category", values=["Ä", "ö"]),
        "often": sensitive("boolean"),
    },
    k=4,
    views={"mode": "auto"},
)


def people() -> dict[str, list[Any]]:
    rng = random.Random(5)
    ages = [rng.randrange(100) for _ in range(NUMBER)]
    return {
        "age": ages,
        "sex": [rng.random() < 0.5 for _ in range(NUMBER)],
        "assay": [77] * NUMBER,
        "never": ["gout"] * NUMBER,
        "rare": ["ö" if age < 30 and rng.random() < 0.5 else "Ä" for age in ages],
        "often": [rng.random() < 0.5 for _ in range(NUMBER)],
    }


def test_every_column_that_is_untold_for_many_records_is_a_warning(tmp_path: Path) -> None:
    report = put(new_site(tmp_path), POLICY, people())
    assay, never, rare = report.warnings
    for name, warning in (("assay", assay), ("never", never)):
        assert warning.startswith(f"columns.{name}: the same in every record")
        assert warning.endswith("withhold it")
    assert rare.startswith("columns.rare: for ")
    assert "views publish nothing about rare" in rare
    assert "coarser frame" in rare
    assert not any(value in warning for value in ("77", "gout", "Ä", "ö") for warning in report.warnings)
    shown = explain_report(report)
    assert all(warning in shown.partition("Warnings")[2] for warning in report.warnings)
    assert "people or more" in shown
    of_rows = explain_report(report, of_people=False)  # nobody says whose the rows are
    assert f"{report.measured.k} rows (measured)" in of_rows
    assert "k counts rows" in of_rows
    assert "people or more" not in of_rows


def test_one_missing_value_is_another_value(tmp_path: Path) -> None:
    rows = people() | {"assay": [77] * (NUMBER - 1) + [None], "never": [None] * NUMBER}
    assay, never, _ = put(new_site(tmp_path), POLICY, rows).warnings
    assert "the same in every record" not in assay
    assert "the same in every record" in never


def test_classes_have_no_such_warning(tmp_path: Path) -> None:
    classes = POLICY.but(views=None, columns={"assay": None, "never": None})
    assert not any(
        "views publish nothing about" in text for text in put(new_site(tmp_path), classes, people()).warnings
    )
