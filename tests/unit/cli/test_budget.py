"""budget: what there is, what statements would cost, and how precise an answer would be."""

from __future__ import annotations

import json

import pytest

from tests.unit.custody.noise.site_with_noise import noisy_site

COUNT = "SELECT COUNT(*) FROM patients WHERE age > {}"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("budgets")
    noisy_site(folder, each=0.5, total=4.0, user=2.0)
    return folder / "site"


@pytest.fixture
def price(run, noisy, tmp_path):
    def priced(content, *words):
        file = tmp_path / "asked.sql"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return run("--site", noisy, "budget", "price", file, "--dataset", "patients", *words)

    return priced


def test_what_is_left_is_shown(run, noisy):
    shown = run("--site", noisy, "budget", "show", "--dataset", "patients", "--format", "json")
    assert shown.exit_code == 0, shown.stderr
    assert "4.0" in shown.stdout


def test_the_statements_of_a_file_are_priced_one_by_one(price):
    found = price(f"{COUNT.format(30)};\n-- a remark; with a semicolon\n{COUNT.format(40)} AND ward = 'a;b'\n;\n")
    assert found.exit_code == 0, found.stderr
    assert "2 statements cost epsilon 1" in found.stdout


def test_nothing_is_spent_by_asking_the_price(price, run, noisy):
    before = run("--site", noisy, "budget", "show", "--dataset", "patients").stdout
    price(COUNT.format(30))
    assert run("--site", noisy, "budget", "show", "--dataset", "patients").stdout == before


@pytest.mark.parametrize("content", [b"", b"  ;\n;", b"\xff\xfe\x00"])
def test_a_file_without_statements_is_told_so(price, content):
    found = price(content)
    assert found.exit_code == 2
    assert "FILE" in found.stderr


def test_a_statement_that_cannot_be_answered_is_refused(price):
    found = price("SELECT age FROM patients")
    assert found.exit_code != 0
    assert "QG" in found.stderr


def test_precision_is_told_without_data(run):
    told = run("budget", "preview", "--epsilon", "0.1", "--count", "400")
    assert told.exit_code == 0, told.stderr
    assert "400" in told.stdout
    needed = run("budget", "preview", "--within", "30")
    assert needed.stdout.startswith("epsilon = 0.")


@pytest.mark.parametrize("words", [(), ("--epsilon", "1", "--within", "3"), ("--epsilon", "0"), ("--mechanism", "x")])
def test_a_preview_needs_one_of_two_numbers(run, words):
    assert run("budget", "preview", *words).exit_code == 2


def test_prices_are_for_programs_too(price):
    found = price(COUNT.format(30), "--format", "json")
    assert json.loads(found.stdout)[0]["epsilon"] == 0.5
