"""Figures in the pages are those of this version."""

from __future__ import annotations

import csv
import random
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from querygate import demo
from querygate.core.types import Principal, Request
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.docs.measured import PAGE, WHERE, changed, changes, wrong
from tests.docs.pages import DOCS, prose

SURVEY = demo.HERE / "survey.csv"
PRIVACY = (DOCS / "explanation" / "privacy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("change", changes()[::5])
def test_a_change_of_policy_does_what_is_shown(change: str) -> None:
    """Some of them; `make soak ONLY=measured` has all."""
    assert wrong(change) == []


def test_the_true_answers_are_true() -> None:
    shown = re.findall(r"^\| ([A-E]) \| .* \| ([\d,.; ]+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name, text in shown:
        people, mean = duckdb.execute(
            f"SELECT COUNT(*), AVG(systolic) FROM read_csv(?) WHERE {WHERE[name]}", [str(SURVEY)]
        ).fetchall()[0]
        assert text in (f"{people:,}; {mean:.1f}", f"{mean:.1f}", f"{people:,}"), name
    assert len(shown) == len(WHERE)


def test_the_mean_is_not_sum_over_count(classes_site: OpenSite) -> None:
    asked = "COUNT(systolic) AS n, SUM(systolic) AS total, AVG(systolic) AS mean"
    sql = f"SELECT {asked} FROM survey WHERE {WHERE['C']}"
    row = make_body(answer(Request(Principal("tester", "researcher"), "survey", sql), classes_site.gate))["rows"][0]
    low, high = row["total"]["low"] / row["n"]["high"], row["total"]["high"] / row["n"]["low"]
    text = " ".join(prose(DOCS / "explanation" / "ranges.md").split())
    assert f"{low:.1f} .. {high:.1f}: more than {int(high - low)} wide" in text
    assert f"The range of the mean is {row['mean']['high'] - row['mean']['low']:.0f} wide" in text


# -- what the page on privacy says about two versions and about one ----------------------------------------------


def overlaps(first: OpenSite, folder: Path, change: str, gone: int) -> tuple[int, int]:
    """People who share both their classes, of two versions, with fewer than four others; and with nobody.

    The second comes alone into a site of its own: versions that are not compared do not know of each other.
    """
    lines = list(csv.reader(SURVEY.read_text(encoding="utf-8").splitlines()))
    left_out = set(random.Random(1).sample(range(1, len(lines)), gone))
    fewer = folder / "fewer.csv"
    with fewer.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(line for i, line in enumerate(lines) if i not in left_out)
    opened = open_gate(init_site(folder / "site"))
    publish_to(opened, parse_policy(changed(change)), str(fewer), user="tester")
    database = duckdb.connect()
    for number, site in enumerate((first.site, opened.site), 1):
        copied = shutil.copy(site.vault / "survey" / "v00001.duckdb", folder / f"{number}.duckdb")
        database.execute(f"ATTACH '{copied}' AS v{number} (READ_ONLY)")
    both = " JOIN ".join(
        f"(SELECT respondent, class AS c{v} FROM v{v}.rows JOIN v{v}.row_class USING (row_id)) p{v}" for v in (1, 2)
    )
    found = database.execute(
        f"SELECT COALESCE(SUM(n) FILTER (n < 5), 0), COUNT(*) FILTER (n = 1) "
        f"FROM (SELECT COUNT(*) AS n FROM {both} USING (respondent) GROUP BY c1, c2)"
    ).fetchall()[0]
    return int(found[0]), int(found[1])


VERSIONS = [
    ("1 person left", "", 1),
    ("the same people, `k = 10` instead of 5", "`k = 10`", 0),
    ("20 people left", "", 20),
    ("100 people left", "", 100),
    ("the same people, `weight = 8` for age instead of 4", "`columns.age.weight = 8`", 0),
    ("the same people, no cuts", "no `columns.age.cuts`", 0),
]


@pytest.mark.parametrize(("shown", "change", "gone"), VERSIONS[:2])
def test_what_two_versions_tell_together(
    classes_site: OpenSite, shown: str, change: str, gone: int, tmp_path: Path
) -> None:
    fewer, alone = overlaps(classes_site, tmp_path, change, gone)
    assert f"| {shown} | {fewer:,} | {alone:,} |" in PRIVACY


def test_what_one_version_tells(classes_site: OpenSite, tmp_path: Path) -> None:
    copied = shutil.copy(classes_site.site.store / "survey" / "v00001.duckdb", tmp_path / "cells.duckdb")
    database = duckdb.connect(str(copied), read_only=True)
    index = {column.name: column.index for column in classes_site.store.current("survey").catalog.columns}
    right, everybody = database.execute(
        f"SELECT SUM(best), (SELECT SUM(n) FROM cells) FROM (SELECT MAX(n) AS best FROM "
        f"(SELECT class, SUM(n) AS n FROM cells GROUP BY class, c{index['smoked']}_set) GROUP BY class)"
    ).fetchall()[0]
    common = database.execute(f"SELECT SUM(n) FROM cells GROUP BY c{index['smoked']}_set ORDER BY 1 DESC").fetchall()[0]
    own = database.execute(
        f"SELECT COUNT(*) FROM (SELECT SUM(n) AS n FROM cells WHERE c{index['bmi']}_lo IS NOT NULL "
        f"GROUP BY class, c{index['bmi']}_lo) WHERE n = 1"
    ).fetchall()[0]
    database.close()
    text = " ".join(PRIVACY.split())
    assert f"somebody's smoking {100 * right / everybody:.0f} times in 100" in text
    assert f"Without the class it is {100 * common[0] / everybody:.0f} times" in text
    assert (
        f"In the demo survey {100 * own[0] / everybody:.0f} % of the people have a body mass bin of their own" in text
    )
