"""What a drafted policy offers and advises, followed: the file is then published with it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.custody.use_cases.policy_draft import draft_from
from tests.policies import PolicyText
from tests.unit.custody.publish.publications import new_site, put, write_parquet

ROWS = 400


@cache
def patients() -> dict[str, Any]:
    rng = np.random.default_rng(9)
    day = [f"20{rng.integers(10, 24):02d}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}" for _ in range(ROWS)]
    return {
        "mrn": [f"m{i:06d}" for i in range(ROWS)],
        "age": rng.integers(20, 90, ROWS).tolist(),
        "sex": rng.choice(["f", "m"], ROWS).tolist(),
        "admitted": [int(one) for one in day],
        "letter": [f"She came on day {i} and was seen by the doctor, who wrote {i} lines to us" for i in range(ROWS)],
        "hvr1": ["".join(rng.choice(list("ACGT"), 60)) for _ in range(ROWS)],
        "ferritin": [float(i) if i < 20 else None for i in range(ROWS)],
        "crp": [float(i) if i < 20 else 5.0 for i in range(ROWS)],
        "stage": rng.integers(1, 5, ROWS).tolist(),
        **{f"lab{i}": np.round(rng.normal(50 + i, 9, ROWS), 1).tolist() for i in range(14)},
    }


def draft(folder: Path, rows: dict[str, Any]) -> str:
    return draft_from(str(write_parquet(folder / "patients.parquet", rows))).text


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> str:
    return draft(tmp_path_factory.mktemp("drafted"), patients())


@pytest.fixture(scope="module")
def drafted_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> str:
    return draft(tmp_path_factory.mktemp("nobody"), rows_of_nobody())


def rows_of_nobody() -> dict[str, Any]:
    return {name: values for name, values in patients().items() if name != "mrn"}


def offers(text: str) -> dict[str, str]:
    """Per withheld column with an offer: its table as drafted."""
    tables = dict(re.findall(r"^\[columns\.(\w+)\]\n((?:[^\[\n].*\n)*)", text, re.MULTILINE))
    return {name: table for name, table in tables.items() if "# role = " in table}


def accepted(table: str) -> str:
    """The table with the offer in place of the role."""
    offered = [line.removeprefix("# ") for line in table.splitlines() if re.match(r"# \w+ = ", line)]
    return "\n".join(offered) + "\n"


def publishes(folder: Path, text: str, rows: dict[str, Any]) -> None:
    report = put(new_site(folder), PolicyText(tomllib.loads(text) | {"dataset": "t"}), rows)
    assert report.measured.k >= 5


def test_every_offer_can_be_accepted(tmp_path: Path, drafted: str) -> None:
    rows, text = patients(), drafted
    found = offers(text)

    assert {"letter", "hvr1", "ferritin", "crp"} <= set(found)
    assert any(name.startswith("lab") for name in found)  # more than are enough to start with
    for name in ("letter", "hvr1", "ferritin", "crp", next(n for n in found if n.startswith("lab"))):
        (tmp_path / name).mkdir()
        changed = text.replace(f"[columns.{name}]\n{found[name]}", f"[columns.{name}]\n{accepted(found[name])}")
        assert changed != text
        publishes(tmp_path / name, changed, rows)


def test_dates_of_eight_digits_are_the_same_as_others(tmp_path: Path, drafted: str) -> None:
    rows = patients()
    written = [f"{str(day)[:4]}-{str(day)[4:6]}-{str(day)[6:]}" for day in rows["admitted"]]
    text = draft(tmp_path, rows | {"admitted": written})

    both = [offers(one)["admitted"] for one in (text, drafted)]  # so few records cannot bear a third quasi-identifier
    assert both[0] == both[1]
    assert tomllib.loads(accepted(both[0]))["type"] == "date"
    publishes(tmp_path, drafted.replace(both[0], accepted(both[0])), rows)


def test_codes_that_measure_something_take_type_and_domain(tmp_path: Path, drafted: str) -> None:
    rows, text = patients(), drafted
    assert "if they measure something, set type and domain" in re.sub(r"\n# ", " ", text)
    tables = tomllib.loads(text)
    tables["columns"]["stage"] = {"role": tables["columns"]["stage"]["role"], "type": "integer", "domain": [0, 10]}

    assert put(new_site(tmp_path), PolicyText(tables | {"dataset": "t"}), rows).classes > 1


@pytest.mark.parametrize("line", ['person = "who"', 'k_counts = "rows"'])
def test_what_is_said_of_people_can_be_written(line: str, tmp_path: Path, drafted_of_nobody: str) -> None:
    rows, text = rows_of_nobody(), drafted_of_nobody
    key = line.partition(" ")[0]
    assert f"# {key} = " in text
    if key == "person":
        rows, text = rows | {"who": [f"w{i}" for i in range(ROWS)]}, text + '\n[columns.who]\nrole = "identifier"\n'

    publishes(tmp_path, re.sub(rf"# {key} = .*", line, text), rows)
