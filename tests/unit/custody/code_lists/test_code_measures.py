"""What a report says of a published list of codes: figures against counts by hand, and pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.cli.dataset import explain_report
from querygate.custody.code_lists import code_measures
from querygate.custody.code_lists.code_measures import CodeMeasures, measure_recoding
from querygate.custody.code_lists.public_codes import CodeSystem, Places
from querygate.custody.code_lists.record_code_lists import CodeLists
from querygate.custody.pages.fill import fill
from querygate.custody.policy import CodesPolicy
from querygate.custody.policy.code_list_rules import UtilityPolicy
from querygate.custody.policy.column_rules import ColumnPolicy
from querygate.custody.publish_report.report import TEMPLATE
from querygate.custody.use_cases.publish_with_report import publish_with_report
from querygate.methods.code_lists import Baskets, Items, LocalItems
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.diseases import Disease
from querygate.methods.code_lists.known_code_systems import tree_of
from tests.bench.codes import synpuf
from tests.each import each
from tests.policies import AGE, Column, PolicyText, code_list, make_policy
from tests.seeds import seeds
from tests.unit.custody.extract.study import extract
from tests.unit.custody.publish.publications import new_site, write_parquet
from tests.unit.methods.code_lists.case_counts import case_counts, surviving
from tests.unit.methods.code_lists.worlds import world

ASTHMA = ("493.00", "493.01", "V10.3", "V10.42")


def lists_of(baskets: Baskets, codes: tuple[str, ...] = (), system: str = "") -> CodeLists:
    """Lists in which every code occurs; without names they have groups of two."""
    rows = [(f"{i:03d}", str(i // 2), "*") for i in range(baskets.size)]
    tree = tree_of(system, codes) if system else CodeTree.of(rows)
    column = ColumnPolicy("dx", "codes", codes=CodesPolicy(utility=UtilityPolicy("level", 1)))
    nothing = Places(np.zeros(0, dtype=np.int64), 0, 0)
    return CodeLists(column, CodeSystem(tree, system), np.arange(baskets.size), baskets, nothing)


def measured(baskets: Baskets, recoding: Items | LocalItems, k: int = 2, **named: Any) -> CodeMeasures:
    found = measure_recoding(lists_of(baskets, **named), recoding, k)
    assert found is not None
    return found


def test_figures_of_a_suppressed_and_a_generalised_code() -> None:
    baskets = Baskets.of([[0, 2], [1, 2], [0, 3], [3]], size=4)
    made = measured(baskets, Items(np.array([0, 0, 1, -1])), codes=ASTHMA, system="icd9cm")
    assert (made.suppressed_of_codes, made.generalised_of_codes) == (1 / 4, 2 / 4)
    assert (made.suppressed_of_entries, made.generalised_of_entries) == (2 / 7, 3 / 7)
    assert made.codes_in_item == 8 / 5
    assert (made.groups_are, made.groups, made.kept, made.kept_names) == ("diseases", 1, 1, ("Asthma",))
    assert (made.unique_before, made.unique_after) == (1.0, 2 / 4)
    assert [one.known for one in made.found] == [1, 2, 3, 4, 5, None]
    assert made.found[-1].before == 3 / 4  # {3} is held by two
    assert made.found[-1].after == 0.0  # {01, 2} by two; who has 3 alone may be anybody
    assert made.log2_loss == pytest.approx(np.log2((3 / 15) * 3 / 4 + (1 / 15) * 2 / 4 + 2 / 4))


def test_counts_are_those_of_frequent_sets() -> None:
    baskets = Baskets.of([[0, 1]] * 3 + [[2]] * 27, size=3)
    made = measured(baskets, Items(np.array([0, 0, 1])))
    assert made.counts == 4  # 0, 1, 2 and {0, 1}
    assert made.error == pytest.approx((1 / 3 + 1 / 3 + 0 + 2 / 3) / 4)


def test_records_that_are_told_nothing_may_have_any_code() -> None:
    """Local recoding: code 1 alone of some, with code 0 of others; the last record's codes are not told."""
    baskets = Baskets.of([[0], [1], [1], [1], [2]], size=3)
    made = LocalItems(Baskets.of([[0], [0], [1], [1], []], size=2), ((0, 1), (1,)), suppressed=1, loss=0.5)
    found = measured(baskets, made)
    assert found.kept == 0
    assert found.suppressed_of_entries == 1 / 5
    assert found.found[0].before == 2 / 5
    assert found.found[0].after == 1 / 5  # code 2: the silent record; code 0: that and two others
    told = replace(made, published=Baskets.of([[0], [0], [1], [1], [2]], size=3), groups=((0, 1), (1,), (2,)))
    assert measured(baskets, replace(told, suppressed=0)).kept == 2


@each("seed", seeds(30))
def test_groups_told_exactly_survive_by_records_too(seed: int) -> None:
    """By items alone no group is called exact whose cases records leave open."""
    made = world(seed)
    drawn = np.random.default_rng(seed).integers(-1, 4, made.baskets.size)
    items = Items(np.where(drawn < 0, -1, np.unique(np.maximum(drawn, 0), return_inverse=True)[1]))
    label = np.arange(made.baskets.size) // 2
    groups = [np.flatnonzero(label == group) for group in range(label[-1] + 1)]
    published = code_measures.PublishedRecords.of(made.baskets, items)
    kept = code_measures.told_exactly(published, label, len(groups))
    for group, exact in zip(groups, kept.tolist(), strict=True):
        counted = case_counts(made.baskets, items, Disease("", tuple(group.tolist())))
        assert counted.exact or not exact


def test_a_hospital() -> None:
    """Before: what a count of all pairs says. Diseases by items are those by records."""
    study = synpuf()
    items = Items(np.unique(study.levels[2], return_inverse=True)[1])
    baskets = Baskets.of(study.baskets.lists()[:800], study.baskets.size)
    made = measured(baskets, items, 5, codes=study.codes, system="icd9cm")
    survive = {one.name for one in surviving(baskets, items, study.diseases)}
    assert survive <= set(made.kept_names)
    assert len(survive) == 11
    assert made.unique_before > 0.99
    before, after = ([getattr(one, side) for one in made.found] for side in ("before", "after"))
    assert all(b >= a for b, a in zip(before, after, strict=True))
    held: dict[tuple[int, ...], int] = {}
    for record in baskets.lists():
        for pair in combinations(record, 2):
            held[pair] = held.get(pair, 0) + 1
    lists = [record for record in baskets.lists() if len(record) > 1]
    rare = np.mean([np.mean([held[p] < 5 for p in combinations(record, 2)]) for record in lists])
    assert before[1] == pytest.approx(rare, abs=0.03)


def test_large_lists_are_measured_on_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    baskets = Baskets.of([rng.choice(40, 3) for _ in range(4000)], size=40)
    items = Items(np.arange(40) // 2)
    whole = measured(baskets, items, 30)
    for name, value in {"SAMPLE": 1000, "PAIRS": 4_000_000, "FEWEST": 100}.items():
        monkeypatch.setattr(code_measures, name, value)
    part = measured(baskets, items, 30)
    assert (part.records, part.people) == (1000, 1000)
    assert part == measured(baskets, items, 30)  # drawn by a fixed rule
    assert part.suppressed_of_entries == whole.suppressed_of_entries
    for one, other in zip(part.found, whole.found, strict=True):
        assert one.before == pytest.approx(other.before, abs=0.06)
        assert one.after == pytest.approx(other.after, abs=0.06)


def test_no_codes_at_all() -> None:
    assert measure_recoding(lists_of(Baskets.of([[], []], size=1)), Items.unchanged(1), 2) is None


# -- in reports --------------------------------------------------------------------------------------------------------

CODES = ("250.00", "250.01", "401.0", "401.1", "401.9", "493.00", "493.01", "V10.3")


def policy_of(method: str, protect: Column) -> PolicyText:
    dx = code_list("icd9cm", method=method, protect=protect)
    return make_policy("trial", {"age": AGE, "dx": dx}, anonymise={"method": "mondrian"})


def patients(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    lists = [sorted({str(code) for code in rng.choice(CODES, rng.integers(0, 4))}) for _ in range(rows)]
    return {"age": rng.integers(20, 80, rows), "dx": pa.array(lists, pa.list_(pa.string()))}


def test_the_report_on_a_version_has_measures(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    source = write_parquet(tmp_path / "source.parquet", patients(60))
    policy = policy_of("partition", {"kind": "complete"})
    done = publish_with_report(opened, policy.parsed(), str(source), user="me", kind="json", base_dir=tmp_path)
    assert done.file is not None
    body = json.loads(done.file.read_text())
    [told] = body["codes"]
    assert told["measures"]["found"][-1]["known"] is None
    assert told["measures"]["found"][0]["after"] <= told["measures"]["found"][0]["before"]
    assert "Found by codes, before and after" in fill(TEMPLATE, report=body, images={}, can_draw=False)
    assert "counted exactly" in explain_report(done.published)


def test_the_report_on_an_extract_has_measures_and_pictures(tmp_path: Path) -> None:
    policy = policy_of("cba", {"kind": "k^m", "m": 2})
    body = extract(tmp_path, table=pa.table(patients(120)), policy=policy, method="mondrian")
    [told] = body["codes"]
    assert told["measures"]["people"] == 120
    assert told["measures"]["found"][1]["after"] == 0.0  # what k^2 promises
    assert (tmp_path / "out" / "codes.png").read_bytes().startswith(b"\x89PNG")
    assert "Found by codes, before and after" in (tmp_path / "out" / "report.html").read_text()
