from __future__ import annotations

import json


def test_a_model_is_printed_as_a_table_and_in_other_formats(run, small):
    words = ("--site", small.folder, "model", "--dataset", "clinic", "--family", "standardised")
    formula = "sbp >= 130 ~ sex | bands(age, 50)"
    table, csv, body = (run(*words, formula, "--format", form) for form in ("table", "csv", "json"))

    assert table.exit_code == 0, table.output
    assert table.stdout.splitlines()[0].split()[:3] == ["term", "level", "rate"]
    assert csv.stdout.splitlines()[0].startswith("term,level,rate_low,rate_high,rate_estimate")
    assert json.loads(body.stdout)["model"]["reference"] == {"sex": "F"}


def test_references_and_weights_are_read(run, small):
    words = ("--site", small.folder, "model", "--dataset", "clinic", "--family", "standardised")
    formula = "sbp >= 130 ~ sex | bands(age, 50)"
    weights = ("--weight", "under 50=1", "--weight", "50 and over=3")
    done = run(*words, formula, "--reference", "sex=M", *weights, "--format", "json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["model"]["reference"] == {"sex": "M"}
    assert run(*words, formula, "--weight", "under 50=x").exit_code == 2
    assert run(*words, formula, "--reference", "sex").exit_code == 2


def test_a_model_that_cannot_be_fitted_is_refused(run, small):
    done = run("--site", small.folder, "model", "--dataset", "clinic", "--family", "logistic", "sbp ~ sex")

    assert done.exit_code == 1
    assert "QG218" in done.stderr
