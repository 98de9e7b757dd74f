"""Events that arrive after a version was published change what is derived of single people, which is refused until the
policy leaves later events out.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate_adapters.sources.open_source import open_source
from tests.unit.custody.publish.publications import new_site, put

PEOPLE = 60
POLICY = """
dataset = "t"
k = 5
person = "pid"

[columns.pid]
role = "identifier"

[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 100]
cuts = [30, 60]

[columns.glucose]
role = "sensitive"
type = "number"
domain = [0, 30]
bins = 10
guard = 1

[events.laboratory]
source = "laboratory.csv"
on = { patient = "pid" }
time = "day"

[derive.glucose]
events = "laboratory"
take = "last"
column = "value"
"""
VIEWS = """
[views]
mode = "spanning"
spanning = [["age"]]
"""


def open_in(folder: Path, place: str) -> Source:
    return open_source(place, folder)


@pytest.mark.parametrize("form", ["", VIEWS])
def test_later_events_are_refused_until_they_are_left_out(form: str, tmp_path: Path) -> None:
    people = {"pid": [f"p{i}" for i in range(PEOPLE)], "age": [i % 90 for i in range(PEOPLE)]}
    events = ["patient,value,day", *(f"p{i},{i % 29},2021-01-01" for i in range(PEOPLE))]
    opened, table, beside = new_site(tmp_path), tmp_path / "laboratory.csv", partial(open_in, tmp_path)
    table.write_text("\n".join(events))
    put(opened, POLICY + form, people, open_beside=beside, handling=None)
    table.write_text("\n".join([*events, "p1,29,2022-01-01", "p2,30,2022-01-01"]))

    with pytest.raises(ConfigError) as refused:
        put(opened, POLICY + form, people, open_beside=beside, handling=None)
    report = put(
        opened,
        POLICY + 'until = "2021-12-31"\n' + form,
        people,
        open_beside=beside,
        handling=None,
    )

    assert refused.value.code == "QG803"
    assert 'a last day such as until = "2024-12-31"' in refused.value.remedy
    assert "in each [derive.*] without one (glucose)" in refused.value.remedy
    assert (report.version, report.versions.retired if report.versions else None) == (2, ())
