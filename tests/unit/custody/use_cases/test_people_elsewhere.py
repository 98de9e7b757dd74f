"""The same people in two datasets of a site: told at publication, since nothing compares the two."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.site.open_gate import OpenSite
from tests.policies import AGE, IDENTIFIER, make_policy
from tests.unit.custody.publish.publications import new_site, write_parquet


def published(opened: OpenSite, name: str, key: str, people: Sequence[object], *, told: bool = True) -> list[str]:
    """The warnings about other datasets."""
    person = {"person": key} if told else {"k_counts": "rows"}
    policy = make_policy(name, {key: IDENTIFIER, "age": AGE}, k=2, **person)
    rows = {key: list(people), "age": [30 + i for i in range(len(people))]}
    source = write_parquet(opened.site.folder.parent / f"{name}.parquet", rows)
    report = publish_to(opened, parse_policy(policy), str(source), user="carl")
    return [warning for warning in report.warnings if "person identifier" in warning]


def test_shared_people_are_counted_and_not_named(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    assert published(opened, "first", "mrn", ["007", " 8", "Ä9", "10"]) == []

    [warning] = published(opened, "second", "patient", ["8", "Ä9", "11", "12"])
    assert warning.startswith("2 person identifiers of this dataset can also be found in first. If they mean")
    assert "Ä9" not in json.dumps(warning, ensure_ascii=False)

    assert published(opened, "third", "mrn", ["20", "21"]) == []
    assert published(opened, "fourth", "mrn", ["007", "8"], told=False) == [], "nobody says what identifies them"


def test_a_dataset_that_was_withdrawn_is_asked_no_more(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    published(opened, "first", "mrn", ["1", "2"])
    withdraw_dataset(opened, "first", user="carl")

    assert published(opened, "second", "mrn", ["1", "2"]) == []
