"""What a custodian chooses for lists of codes: who looks for what, which codes go together, and which are spared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querygate.custody.code_lists import code_items
from querygate.custody.policy import parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from querygate.methods.code_lists import Items
from tests.unit.custody.code_lists.test_code_items import ROWS, count, policy_text, publish, refusal

ICD = 'system = "icd9cm"'
PAIR = 'protect = {{ kind = "itemsets", itemsets = [["296.00", "401.1"]], look_for = "{}" }}'
LISTS = [["296.00", "401.1"], ["042"], ["042"]]
OPEN = "share of known sets of dx of which what is left leads to fewer than k records"


# -- who looks for what --------------------------------------------------------------------------------------------


def test_whoever_goes_on_to_the_rest_finds_k_records_too(tmp_path: Path) -> None:
    _, report = publish(tmp_path, LISTS, PAIR.format("rest"))
    assert report.codes[0].suppressed == 2
    assert report.measured.kept["fewest records with known codes of dx"] == 3
    assert OPEN not in report.measured.kept


def test_where_whole_sets_are_looked_for_one_code_is_enough_and_what_is_open_is_told(tmp_path: Path) -> None:
    _, report = publish(tmp_path, LISTS, PAIR.format("whole"))
    assert report.codes[0].suppressed == 1
    assert report.measured.kept["fewest records with whole known sets of codes of dx"] == 3
    assert report.measured.kept[OPEN] == 1.0


def test_whole_sets_are_counted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that does nothing is not believed with either promise."""
    monkeypatch.setattr(code_items, "protect", lambda lists, *_: Items.unchanged(lists.baskets.size))
    error = refusal(tmp_path, LISTS, PAIR.format("whole"))
    assert (error.code, "whole known sets" in error.detail) == ("QG803", True)


# -- what goes together, and what is spared --------------------------------------------------------------------------

ASTHMA = [["493.00", "401.9"], ["493.01"], ["401.9"], ["401.9"], ["250.00"], ["250.01"]]
SEEN = 'protect = { kind = "itemsets", itemsets = [["493.00", "401.9"]] }\n'


@pytest.mark.parametrize("method", ["cba", "ugaclip"])
def test_diseases_are_spared(method: str, tmp_path: Path) -> None:
    def asthma(spare: str) -> tuple[Any, Any]:
        folder = tmp_path / spare
        folder.mkdir()
        more = f'method = "{method}"\n{SEEN}utility = {{ kind = "diseases", spare = "{spare}" }}'
        opened, _ = publish(folder, ASTHMA, more, system=ICD)
        return count(opened, "has_code_under(dx, '493')")

    assert asthma("listed") == (2, 2)
    assert asthma("none") == {"cba": (1, 6), "ugaclip": (0, 6)}[method]


def test_codes_in_no_group_are_grouped_by_the_level(tmp_path: Path) -> None:
    def told(level: str) -> list[Any]:
        folder = tmp_path / f"at{level}"
        folder.mkdir()
        utility = f'utility = {{ kind = "groups", groups = [["250"]]{level} }}'
        opened, _ = publish(
            folder, [["401.1"], ["401.9"], ["250.00"], ["250.01"]], f"protect = {{ m = 1 }}\n{utility}", system=ICD
        )
        return [count(opened, f"has_code_under(dx, '{name}')") for name in ("250", "401")]

    assert told("") == [(2, 2), (0, 4)]
    assert told(", level = 2") == [(2, 2), (2, 2)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('utility = { kind = "diseases" }', "listed as codes of ICD-9-CM and ICD-10"),
        ('utility = { kind = "level", spare = "listed" }', "does not apply to kind level"),
        ('utility = { kind = "groups", groups = [["401.1"]], spare = "all" }', "none, listed"),
        ('utility = { kind = "groups", groups = [["401.1"]], level = 9 }', "2 levels above its codes"),
        ('protect = { kind = "k^m", look_for = "whole" }', "does not apply to kind k^m"),
        ('protect = { kind = "itemsets", itemsets = [["042"]], look_for = "half" }', "rest, whole"),
    ],
)
def test_choices_that_do_not_fit(more: str, said: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, LISTS, more)
    assert (error.code, said in error.detail) == ("QG801", True)


def test_what_is_the_default_does_not_change_the_policy(tmp_path: Path) -> None:
    tmp_path.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    groups = 'utility = { kind = "groups", groups = [["296"]]'
    known = 'protect = { kind = "itemsets", itemsets = [["296.00", "401.1"]] }'
    same = (f"{known}\n{groups} }}", f'{PAIR.format("rest")}\n{groups}, spare = "none" }}')
    other = (f"{PAIR.format('whole')}\n{groups} }}", f'{known}\n{groups}, spare = "listed" }}')
    first, again, *others = (parse_policy(policy_text(more), folder=tmp_path) for more in (*same, *other))
    assert first.hash == again.hash
    assert len({first.hash, *(policy.hash for policy in others)}) == 3
    assert all(read_policy(write_policy(policy)) == policy for policy in others)
