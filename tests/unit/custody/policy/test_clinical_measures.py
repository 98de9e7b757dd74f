"""Measures that drafts recognise: every entry of the list makes sense, and columns find theirs."""

from __future__ import annotations

import re
import tomllib
from itertools import combinations, pairwise

import pytest

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy.clinical_measures import Measure, Unit, measure_of, measures
from querygate.custody.policy.drafts.draft_domains_and_cuts import number_keys


def column(name: str, low: float, middle: float, high: float, spread: float = 0.0, step: float = 0.0) -> ColumnFigures:
    return ColumnFigures(name, 1000, low=low, high=high, middle=middle, spread=spread or (high - low) / 6, step=step)


@pytest.mark.parametrize("measure", measures(), ids=lambda measure: measure.name)
def test_every_entry_makes_sense(measure: Measure) -> None:
    re.compile(measure.names)
    assert measure.title
    assert measure.source
    assert measure.beside == "" or measure.beside in {other.name for other in measures()}
    for unit in measure.units:
        assert unit.domain[0] <= unit.median[0] <= unit.median[1] <= unit.domain[1]
        assert all(a < b for a, b in pairwise((unit.domain[0], *unit.cuts, unit.domain[1])))
    for one, two in combinations(measure.units, 2):
        assert one.median[1] < two.median[0] or two.median[1] < one.median[0], "a median decides between units"


def test_there_are_many_and_most_have_units_of_both_kinds() -> None:
    assert len(measures()) >= 40
    assert sum(len(measure.units) > 1 for measure in measures()) >= 20


@pytest.mark.parametrize(
    ("name", "ends", "found"),
    [
        ("BPSysAve", (74, 115, 226), ("systolic", "mmHg")),
        ("BPXDI1", (0, 66, 131), ("diastolic", "mmHg")),
        ("bmi", (12.6, 25.3, 84.9), ("bmi", "kg/m2")),
        ("TotChol", (1.7, 4.7, 13.7), ("cholesterol", "mmol/L")),
        ("chol", (120, 310, 1775), ("cholesterol", "mg/dL")),
        ("DirectChol", (0.3, 1.3, 4.6), ("hdl", "mmol/L")),
        ("ldl_cholesterol", (20, 110, 300), ("ldl", "mg/dL")),
        ("creatinine", (0.4, 1.0, 10.8), ("creatinine", "mg/dL")),
        ("Serum_Creatinine", (35, 80, 900), ("creatinine", "umol/L")),
        ("HbA1c", (4.1, 5.6, 14.0), ("hba1c", "%")),
        ("hba1c_mmol_mol", (20, 38, 130), ("hba1c", "mmol/mol")),
        ("fasting_glucose", (55, 98, 420), ("glucose", "mg/dL")),
        ("RR_syst", (70, 148, 240), ("systolic", "mmHg")),
        ("RR_diast", (40, 85, 130), ("diastolic", "mmHg")),
        ("RR", (8, 16, 40), ("respiratory_rate", "/min")),
        ("NIHSS", (0, 4, 38), ("nihss", "points")),
        ("nihss_admission", (0, 4, 38), ("nihss", "points")),
        ("mRS_Entlassung", (0, 2, 6), ("rankin", "points")),
        ("Barthel_Index", (0, 80, 100), ("barthel", "points")),
        ("Glukose", (2.1, 6.3, 30.0), ("glucose", "mmol/L")),
        ("K\u00f6rpergr\u00f6\u00dfe", (140, 172, 205), ("height", "cm")),
        ("glucose", (3.1, 5.3, 25.0), ("glucose", "mmol/L")),
        ("eGFR", (5, 88, 140), ("egfr", "mL/min/1.73 m2")),
        ("hgb", (6.1, 13.4, 18.0), ("haemoglobin", "g/dL")),
        ("Haemoglobin", (61, 134, 180), ("haemoglobin", "g/L")),
        ("temp", (96.0, 98.6, 104.2), ("temperature", "degrees Fahrenheit")),
        ("weight_lbs", (90, 105, 380), ("weight", "lb")),  # a light population: the name decides
        ("weight", (2.7, 66.8, 239.4), ("weight", "kg")),
        ("height", (79.1, 162.6, 202.7), ("height", "cm")),
        ("albumin", (1.96, 3.53, 4.64), ("albumin", "g/dL")),
        ("nt_pro_bnp", (5, 300, 35000), ("nt_pro_bnp", "pg/mL")),
        ("gestational_age_weeks", (23, 39, 42), ("gestational_age", "weeks")),
        ("SSW", (23, 39, 42), ("gestational_age", "weeks")),
        ("Schwangerschaftswoche", (23, 39, 42), ("gestational_age", "weeks")),
        ("gestational_age_days", (161, 273, 295), ("gestational_age", "days")),
        ("Geburtsgewicht (g)", (410, 3310, 5350), ("birth_weight", "g")),
        ("poids_de_naissance", (0.41, 3.31, 5.35), ("birth_weight", "kg")),
    ],
)  # fmt: skip
def test_a_column_is_recognised_by_name_unit_and_range(
    name: str, ends: tuple[float, float, float], found: tuple[str, str]
) -> None:
    measured = measure_of(column(name, *ends))
    assert measured is not None
    assert (measured.measure.name, measured.unit.unit) == found


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("sbp", (76, 120, 999)),  # a code for missing values is no pressure
        ("glucose", (0, 0.2, 1.0)),
        ("hemoglobin_a1c_target_met", (0, 1, 1)),
        ("x17", (74, 115, 226)),
        ("lab", (0, 5, 10)),
    ],
)
def test_what_does_not_fit_is_not_taken_for_a_measure(name: str, ends: tuple[float, float, float]) -> None:
    assert measure_of(column(name, *ends)) is None


@pytest.mark.parametrize(
    ("name", "ends", "spread", "step"),
    [
        ("sbp", (74, 115, 226), 18.5, 1),
        ("bmi", (12.6, 25.3, 84.9), 7.7, 0.01),
        ("TotChol", (1.7, 4.7, 13.7), 1.07, 0.01),
        ("creatinine", (0.4, 1.0, 10.8), 0.42, 0.1),
        ("HbA1c", (4.1, 5.6, 14.0), 1.0, 0.1),
        ("x", (0, 5.0, 9.0), 1.3, 0.0),
        ("eGFR", (5, 88, 140), 24.0, 1),
        ("temp_f", (96.0, 98.6, 104.2), 0.9, 0.1),
    ],
)  # fmt: skip
def test_bins_and_guards_fit_the_spread(
    name: str, ends: tuple[float, float, float], spread: float, step: float
) -> None:
    """Medians need bins of less than a fifth of the deviation, unless values are not told apart as finely; conditions
    at clinical limits need edges there.
    """
    figures = column(name, *ends, spread=spread, step=step)
    found = measure_of(figures)
    made = number_keys(figures, found, whole=step == 1)
    keys = tomllib.loads("\n".join(f"{key} = {value}" for key, value in made.keys.items()))
    assert keys["bins"] <= max(0.2 * spread, step)
    assert keys["bins"] <= keys["guard"] <= max(0.4 * spread, 2 * step)
    assert keys["guard"] >= 2 * step
    units: Unit | None = found.unit if found else None
    for cut in units.cuts if units else ():
        steps = (cut - keys["domain"][0]) / keys["bins"]
        assert abs(steps - round(steps)) < 1e-6
