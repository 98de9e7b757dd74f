"""Lists of codes, published: read in every form, anonymised, written, verified; and refused where that cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError, ExtractRefused, UnsupportedSQL
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.types import Catalog
from querygate.custody.code_lists import code_items
from querygate.custody.extract.extract_scope import narrowed
from querygate.custody.policy import parse_policy
from querygate.custody.policy.code_list_rules import METHODS
from querygate.custody.policy.policy_json import read_policy, write_policy
from querygate.custody.publish.publish import Report
from querygate.methods.code_lists import Items, code_methods
from querygate.site.open_gate import OpenSite
from tests.places import ROOT
from tests.policies import AGE, make_policy
from tests.unit.custody.publish.publications import Miswriter, ends, new_site, put, raw_rows, shelf_of

CODES = ("295.00", "295.01", "295.02", "296.00", "296.01", "296.02", "401.1", "042")
ROWS = "".join(f"{code};{code[:3]};any\n" for code in CODES)
GOLDEN = [["296.00", "296.01", "296.02"], ["295.00", "295.01", "295.02"], ["296.00", "296.02"]]
KNOWN = 'protect = { kind = "itemsets", itemsets = [["296.00", "296.01", "296.02"]] }'


def policy_text(more: str = "", *, k: int = 2, system: str = 'system = "codes.csv"') -> str:
    return make_policy("t", {"age": AGE}, k=k) + f'[columns.dx]\nrole = "codes"\n{system}\n{more}\n'


def publish(
    folder: Path, lists: Any, more: str = "", *, beside: Mapping[str, str] | None = None, **policy: Any
) -> tuple[OpenSite, Report]:
    """A table of people of one age with these lists; what else the policy says of the column is `more`."""
    for name, text in {"codes.csv": ROWS, **(beside or {})}.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")
    opened = new_site(folder)
    columns = lists if isinstance(lists, Path | dict) else {"age": [40] * len(lists), "dx": lists}
    return opened, put(opened, parse_policy(policy_text(more, **policy), folder=folder), columns)


def count(opened: OpenSite, where: str) -> tuple[Any, Any]:
    return ends(opened, "COUNT(*)", where)


def refusal(folder: Path, lists: Any, more: str = "", **policy: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        publish(folder, lists, more, **policy)
    return caught.value


# -- what is published ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ugaclip", "cba"])
def test_the_example_of_the_literature(method: str, tmp_path: Path) -> None:
    """Loukides et al.: with the group {296.00, 296.01} the three codes are known of two people, and not of one."""
    groups = 'utility = { kind = "groups", groups = [["296.00", "296.01"]] }'
    opened, report = publish(tmp_path, GOLDEN, f'method = "{method}"\n{KNOWN}\n{groups}')
    assert count(opened, "has_any(dx, '296.00', '296.01') AND has_code(dx, '296.02')") == (2, 2)
    assert count(opened, "has_code(dx, '296.01')") == (0, 2)
    assert count(opened, "has_all(dx, '295.00', '295.01', '295.02')") == (1, 1)
    assert report.measured.kept["fewest records with known codes of dx"] == 2
    [told] = report.codes
    assert (told.public, told.occurring, told.exact, told.generalised, told.suppressed) == (8, 6, 4, 2, 0)


@pytest.mark.parametrize("method", METHODS["k^m"])
def test_every_method_keeps_what_the_verifier_counts(method: str, tmp_path: Path) -> None:
    lists = [[CODES[i % 6], CODES[(i * i + 1) % 6]] for i in range(40)]
    _, report = publish(tmp_path, lists, f'method = "{method}"\nprotect = {{ kind = "k^m", m = 3, k = 4 }}')
    assert report.measured.kept["fewest records with known codes of dx"] >= 4
    assert report.codes[0].k == 4


def test_a_suppressed_code_is_not_told_of_anybody(tmp_path: Path) -> None:
    """Nobody is told to have it or not to have it; nor can it be told from a code of its group that nobody has."""
    lists = [["401.1"]] * 4 + [["401.1", "295.00"]]
    opened, report = publish(tmp_path, lists, 'protect = { kind = "k^m", m = 1 }')
    assert report.codes[0].suppressed == 1
    assert count(opened, "has_code(dx, '295.00')") == count(opened, "has_code(dx, '295.01')") == (0, 5)
    assert count(opened, "has_code(dx, '042')") == (0, 0)
    assert count(opened, "has_code(dx, '401.1')") == (5, 5)


def test_a_code_of_a_listed_set_that_nobody_has_stays_a_code_nobody_has(tmp_path: Path) -> None:
    lists = [["401.1", "296.00"], ["401.1"], ["401.1"]]
    known = 'protect = { kind = "itemsets", itemsets = [["296.00"], ["401.1", "296.02"]] }'
    opened, _ = publish(tmp_path, lists, known, k=2)
    assert count(opened, "has_code(dx, '296.02')") == (0, 0)
    assert count(opened, "has_code(dx, '296.01')") == (0, 3)


def test_the_public_list_does_not_depend_on_the_data(tmp_path: Path) -> None:
    opened, _ = publish(tmp_path, GOLDEN, KNOWN)
    column = opened.gate.store.current("t").catalog.column("dx")
    assert column is not None
    assert column.values == tuple(sorted(CODES))
    assert ("296.00", "296") in column.parents
    assert count(opened, "has_code_under(dx, '042')") == (0, 0)


# -- how lists are written -----------------------------------------------------------------------------------------

SPELT = [["29600", "296.01", " 296.02 "], ["295.00", "295.01", "295.02"], ["296.00", "296.02", "296.00"]]


def sources(folder: Path) -> dict[str, tuple[Any, str]]:
    """The same lists in every form that a source has."""
    database = folder / "source.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 40 AS age, unnest(?::VARCHAR[][]) AS dx", [SPELT])
    text = folder / "source.csv"
    joined = "".join(f'40,"{" ;".join(codes)}"\n' for codes in SPELT)
    text.write_text("age,dx\n" + joined, encoding="utf-8")
    parquet = {"age": [40] * 3, "dx": pa.array([";".join(codes) for codes in SPELT])}
    return {
        "lists": ({"age": [40] * 3, "dx": SPELT}, ""),
        "large lists": ({"age": [40] * 3, "dx": pa.array(SPELT, pa.large_list(pa.string()))}, ""),
        "text in CSV": (text, 'separator = ";"'),
        "text in Parquet": (parquet, 'separator = ";"'),
        "lists of texts": (
            {"age": [40] * 3, "dx": [[";".join(codes)] for codes in SPELT]},
            'separator = ";"',
        ),
    }


@pytest.mark.parametrize("form", ["lists", "large lists", "text in CSV", "text in Parquet", "lists of texts"])
def test_lists_in_every_form(form: str, tmp_path: Path) -> None:
    lists, more = sources(tmp_path)[form]
    opened, report = publish(tmp_path, lists, f"{KNOWN}\n{more}")
    assert report.codes[0].occurring == 6
    assert count(opened, "has_code_under(dx, '296') AND has_code(dx, '296.02')") == (2, 2)


def test_lists_of_a_duckdb_table(tmp_path: Path) -> None:
    sources(tmp_path)
    tmp_path.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    opened = new_site(tmp_path)
    policy = parse_policy(policy_text(KNOWN), folder=tmp_path)
    report = put(opened, policy, Path(f"duckdb:{tmp_path}/source.duckdb#people"))
    assert report.codes[0].occurring == 6


def test_what_is_missing_or_empty_is_no_code(tmp_path: Path) -> None:
    lists = [None, [], [None], ["", " "], ["401.1", None], ["401.1"]]
    opened, report = publish(tmp_path, lists, KNOWN)
    assert report.codes[0].occurring == 1
    assert count(opened, "has_code(dx, '401.1')") == (2, 2)
    assert count(opened, "NOT has_code_under(dx, '401')") == (4, 4)


def test_nobody_has_a_code(tmp_path: Path) -> None:
    opened, report = publish(tmp_path, {"age": [40] * 3, "dx": pa.array([None] * 3, pa.list_(pa.string()))})
    assert report.codes[0].occurring == 0
    assert count(opened, "has_code_under(dx, '296')") == (0, 0)


def test_a_code_that_everybody_has(tmp_path: Path) -> None:
    opened, _ = publish(tmp_path, [["401.1"], ["401.1"], ["401.1", "042"]], 'protect = { kind = "k^m", m = 2 }')
    assert count(opened, "has_code(dx, '401.1')") == (3, 3)


def test_dots_and_case_do_not_matter_and_nothing_else_is_guessed(tmp_path: Path) -> None:
    values = ["V10.1", "v10", "A", "a", "B"]
    system = f'system = "flat"\nvalues = {values}'
    lists = [["v101"], ["V10.1"], ["V10"], ["a", "b"], ["A"]]
    opened, _ = publish(tmp_path, lists, 'protect = { kind = "itemsets", itemsets = [["V10.1"]] }', system=system)
    assert count(opened, "has_code(dx, 'V10.1')") == (2, 2)
    assert count(opened, "has_code(dx, 'v10')") == (1, 1)
    assert count(opened, "has_code(dx, 'a')") == count(opened, "has_code(dx, 'A')") == (1, 1)


def test_raw_lists_stay_as_the_source_wrote_them(tmp_path: Path) -> None:
    opened, _ = publish(tmp_path, SPELT, KNOWN)
    assert sorted(raw_rows(opened, ["dx"])) == sorted((codes,) for codes in SPELT)


# -- visits --------------------------------------------------------------------------------------------------------

VISITS: dict[str, tuple[Any, str]] = {
    "lists of lists": ([[["401.1", "042"], ["296.00"]], [["401.1"]], [["042"]], []], ""),
    "lists of texts": ([["401.1;042", "296.00"], ["401.1"], ["042"], []], ""),
    "text": (["401.1;042|296.00", "401.1", "042", None], ', between = "|"'),
}


@pytest.mark.parametrize("form", VISITS)
def test_what_was_billed_together_is_protected(form: str, tmp_path: Path) -> None:
    """401.1 and 042 were given in one visit of one person: with k = 2 nobody may be found by both."""
    visits, between = VISITS[form]
    lists = ["401.1;042;296.00", "401.1", "042", "296.00"]
    more = f'separator = ";"\nprotect = {{ kind = "visits", column = "visits"{between} }}\n'
    more += 'utility = { kind = "none" }\n[columns.visits]\nrole = "withheld"'
    opened, report = publish(tmp_path, {"age": [40] * 4, "dx": lists, "visits": visits}, more)
    assert report.measured.kept["fewest records with known codes of dx"] >= 2
    assert count(opened, "has_all(dx, '401.1', '042')")[1] != 1
    assert opened.gate.store.current("t").catalog.column("visits") is None


# -- what cannot be published --------------------------------------------------------------------------------------


def test_codes_that_the_system_does_not_have_stop_it(tmp_path: Path) -> None:
    error = refusal(tmp_path, [["401.1"], ["401.1", "secret"], ["secret", "other thing"]])
    assert error.code == "QG802"
    assert "3 entries in its lists (2 distinct)" in error.detail
    assert "the first in record 2" in error.detail
    assert "secret" not in f"{error.detail} {error.remedy}"


def test_codes_that_the_system_does_not_have_may_be_other(tmp_path: Path) -> None:
    lists = [["401.1"], ["401.1", "nonsense"], ["nonsense", "more of it"]]
    opened, report = publish(tmp_path, lists, f'unknown = "other"\n{KNOWN}')
    assert report.codes[0].unknown == 2
    assert count(opened, "has_code(dx, 'other')") == (2, 2)
    values = opened.gate.store.current("t").catalog.column("dx").values  # type: ignore[union-attr]
    assert values == tuple(sorted((*CODES, "295, other", "296, other", "401, other", "other")))


def test_codes_that_the_list_lacks_are_counted_in_the_groups_that_they_begin_like(tmp_path: Path) -> None:
    lists = [["401.1"], ["401.9"], ["40199"], ["401.15"], ["401"], ["402"], ["4"], []]
    opened, report = publish(
        tmp_path, lists, 'unknown = "other"\nprotect = { kind = "itemsets", itemsets = [["042"]] }'
    )
    assert report.codes[0].unknown == 6
    assert count(opened, "has_code_under(dx, '401')") == (5, 5)
    assert count(opened, "has_code(dx, '401.1')") == (2, 2)  # 401.15 is a kind of it
    assert count(opened, "has_code(dx, 'other')") == (2, 2)


def test_lists_without_groups_are_not_asked_for_what_unlisted_codes_begin_with(tmp_path: Path) -> None:
    lists = [["401.1"], ["401.9"], ["nonsense"], []]
    flat = 'system = "flat"\nvalues = ["401.1", "402"]'
    opened, _ = publish(tmp_path, lists, 'unknown = "other"\nmethod = "least-frequent"', system=flat)
    with pytest.raises(UnsupportedSQL, match="whatever they start with"):
        count(opened, "has_code_under(dx, '401')")


def test_a_separator_that_was_not_named_is_noticed(tmp_path: Path) -> None:
    error = refusal(tmp_path, ["401.1;042", "401.1"])
    assert (error.code, "`separator`" in error.remedy) == ("QG802", True)


@pytest.mark.parametrize("lists", [[[["401.1"]], [["042"]]], [[250.0], [401.1]], [250.0, 401.1]])
def test_lists_of_lists_and_fractions_are_no_codes(lists: Any, tmp_path: Path) -> None:
    error = refusal(tmp_path, lists)
    assert (error.code, "cannot be read as codes" in error.detail) == ("QG802", True)


def test_more_people_wanted_than_there_are(tmp_path: Path) -> None:
    error = refusal(tmp_path, GOLDEN, 'protect = { kind = "k^m", m = 1, k = 4 }')
    assert (error.code, "k = 4 is more than the number of records (3)" in error.detail) == ("QG803", True)


def test_fewer_people_with_codes_than_k(tmp_path: Path) -> None:
    """Nothing can be told of them, whatever is generalised; by suppression, or by a refusal that says so."""
    lists = [["401.1"], [], [], []]
    opened, report = publish(tmp_path, lists, 'protect = { kind = "k^m", m = 1 }')
    assert report.codes[0].suppressed == 1
    assert count(opened, "has_code(dx, '401.1')") == (0, 4)
    again = tmp_path / "again"
    again.mkdir()
    assert refusal(again, lists, 'method = "apriori"').code == "QG803"


def test_a_listed_set_of_thirty_codes(tmp_path: Path) -> None:
    many = [f"{category}.{digit}" for category in (500, 501, 502) for digit in range(10)]
    rows = "".join(f"{code};{code[:3]};any\n" for code in many)
    lists = [many, many[:15], many[15:], many[:29]]
    known = 'protect = { kind = "itemsets", itemsets = "known.csv" }'
    opened, report = publish(tmp_path, lists, known, beside={"codes.csv": rows, "known.csv": ";".join(many)})
    assert report.measured.kept["fewest records with known codes of dx"] >= 2
    everything = ", ".join(f"'{code}'" for code in many)
    low, high = count(opened, f"has_all(dx, {everything})")
    assert low <= 1 <= high


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('utility = { kind = "groups", groups = [["401.1", "042"], ["042", "296.00"]] }', "several groups"),
        ('utility = { kind = "groups", groups = [["296"], ["296.00", "042"]] }', "belongs to several groups"),
        ('utility = { kind = "groups", groups = [["999"]] }', "999 is not a code"),
        ('utility = { kind = "level", level = 3 }', "2 levels above its codes"),
        ('protect = { kind = "itemsets", itemsets = [["999.9"]] }', "999.9 is not a code"),
        ('protect = { kind = "itemsets", itemsets = [[]] }', "1 set without any code"),
        ('protect = { kind = "itemsets", itemsets = "absent.csv" }', "cannot be read"),
        ('protect = { kind = "itemsets" }', "is missing"),
        ('protect = { kind = "itemsets", m = 2, itemsets = [["042"]] }', "does not apply to kind itemsets"),
        ('protect = { kind = "k^m", m = 5 }', "at most 4"),
        ('protect = { kind = "visits", column = "visits" }', "a column of the policy with role withheld"),
        ('method = "apriori"\n' + KNOWN, "does not protect what kind itemsets requires"),
        ('values = ["a"]', "cannot be combined with a system that lists its codes"),
        ('unknown = "drop"', "refuse, other"),
        ("separator = 3", "a string"),
    ],
)
def test_policies_that_contradict_themselves(more: str, said: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, GOLDEN, more)
    assert error.code == "QG801"
    assert said in error.detail


@pytest.mark.parametrize("system", ['system = "flat"', 'system = "flat"\nvalues = ["a", "a "]', 'system = "icd8"'])
def test_a_system_has_a_public_list(system: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, GOLDEN, system=system).code == "QG801"


def test_codes_as_claims_write_them(tmp_path: Path) -> None:
    """Without dots, in lower case, with zeros that were lost: read by the rules of the system, and counted."""
    lists = [["25000", "v4581"], ["250.00", "V45.81"], ["8.45", "e849.0"], ["008.45", "E8490"], ["250"]]
    known = 'protect = { kind = "itemsets", itemsets = [["25000", "V4581"]] }'
    opened, report = publish(tmp_path, lists, known, system='system = "icd9cm"')
    assert (report.codes[0].occurring, report.codes[0].mended, report.codes[0].unknown) == (5, 1, 0)
    assert count(opened, "has_code(dx, '250.00') AND has_code(dx, 'V45.81')") == (2, 2)
    assert count(opened, "has_code(dx, '008.45') AND has_code_under(dx, 'E849')") == (2, 2)
    assert count(opened, "has_code_under(dx, '250')") == count(opened, "has_code_under(dx, '240-279')") == (3, 3)
    assert count(opened, "has_code(dx, '250')") == (1, 1)


@pytest.mark.parametrize("system", ["icd10cm", "ccs"])
def test_the_other_systems(system: str, tmp_path: Path) -> None:
    code = {"icd10cm": "E11.9", "ccs": "250.00"}[system]
    opened, report = publish(tmp_path, [[code], [code.replace(".", "")]], system=f'system = "{system}"')
    assert report.codes[0].public > 10_000
    assert count(opened, f"has_code(dx, '{code}')") == (2, 2)


def test_the_policies_of_the_guide_load(tmp_path: Path) -> None:
    page = ROOT / "docs" / "how-to" / "publish-diagnosis-codes.md"
    tmp_path.joinpath("diseases.csv").write_text("250;250.00\n401.1;401.9\n", encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    loaded = [parse_policy(make_policy("t", {"age": AGE}) + block, folder=tmp_path) for block in blocks]
    assert [policy.column("dx").role for policy in loaded] == ["codes"] * 7


# -- what the verifier stops ---------------------------------------------------------------------------------------

Change = Callable[[Catalog, dict[str, pa.Table], CodeSets], tuple[Catalog, dict[str, pa.Table], CodeSets]]


def of_a_neighbour(catalog: Catalog, tables: Any, sets: CodeSets) -> Any:
    """Records change their sets with others of their class."""
    return catalog, _with_items(tables, pa.array(tables["cells"]["c1_items"].to_pylist()[::-1], pa.int32())), sets


def only_what_occurs(catalog: Catalog, tables: Any, sets: CodeSets) -> Any:
    """The public list without the codes that nobody has."""
    groups = groups_of(sets)
    held = sorted(set(sets.members.tolist()))
    codes = tuple(sets.codes[code] for item in held for code in groups[item])
    groups = [tuple(codes.index(sets.codes[code]) for code in groups[item]) for item in held]
    columns = (catalog.columns[0], replace(catalog.columns[1], values=codes))
    renumbered = [[held.index(item) for item in one] for one in lists_of(sets)]
    return replace(catalog, columns=columns), tables, CodeSets.of_groups(codes, groups, renumbered)


def one_more_in_an_item(catalog: Catalog, tables: Any, sets: CodeSets) -> Any:
    """A code that nobody has joins an item of another group: what each set says stays true."""
    last, groups = sets.codes.index("042"), groups_of(sets)
    gone = groups.index((last,))
    joined = [(*one, last) if sets.codes.index("295.00") in one else one for one in groups if one != (last,)]
    renumbered = [[item - (item > gone) for item in one] for one in lists_of(sets)]
    return catalog, tables, CodeSets.of_groups(sets.codes, joined, renumbered)


def groups_of(sets: CodeSets) -> list[tuple[int, ...]]:
    """The codes of each item."""
    entries = list(zip(sets.entry_item.tolist(), sets.entry_code.tolist(), strict=True))
    return [tuple(code for of, code in entries if of == item) for item in range(len(sets.sizes))]


def lists_of(sets: CodeSets) -> list[list[int]]:
    """The items of each set."""
    return [part.tolist() for part in np.split(sets.members, sets.starts[1:-1])]


def _with_items(tables: dict[str, pa.Table], column: pa.Array) -> dict[str, pa.Table]:
    cells = tables["cells"]
    return {**tables, "cells": cells.set_column(cells.column_names.index("c1_items"), "c1_items", column)}


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (of_a_neighbour, "every list of dx is published as its items"),
        (only_what_occurs, "of dx the catalog has the right values"),
        (one_more_in_an_item, "items of dx lie inside groups"),
    ],
)
def test_what_is_miswritten_is_not_served(change: Change, promise: str, tmp_path: Path) -> None:
    tmp_path.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    opened = new_site(tmp_path)

    def miswritten(catalog: Catalog, tables: Any, codes: Mapping[int, CodeSets]) -> Any:
        catalog, tables, sets = change(catalog, dict(tables), codes[1])
        return catalog, tables, {1: sets}

    policy, shelf = parse_policy(policy_text(KNOWN), folder=tmp_path), Miswriter(shelf_of(opened), miswritten)
    with pytest.raises(ConfigError, match="The verifier found") as caught:
        put(opened, policy, {"age": [40] * 3, "dx": GOLDEN}, shelf=shelf)
    assert promise in caught.value.detail
    assert opened.gate.store.datasets() == ()


def test_an_anonymiser_that_does_nothing_is_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(code_items, "protect", lambda lists, *_: Items.unchanged(lists.baskets.size))
    kinds = (KNOWN, 'protect = { kind = "k^m", m = 2 }', 'protect = { kind = "k^m", m = 3 }')
    for number, kind in enumerate(kinds):
        folder = tmp_path / str(number)
        folder.mkdir()
        error = refusal(folder, GOLDEN, kind)
        assert error.code == "QG803"
        assert "k = 2 for anyone who knows codes of dx" in error.detail


def test_synthetic_records_have_no_lists(tmp_path: Path) -> None:
    """A list has no mean: an extract of everything has all but it, and one that names it is refused."""
    tmp_path.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    policy = parse_policy(policy_text(KNOWN), folder=tmp_path)
    assert [c.name for c in narrowed(policy, ExtractSpec("t", "a study", kind="condensed")).columns] == ["age"]
    assert [c.name for c in narrowed(policy, ExtractSpec("t", "a study")).columns] == ["age", "dx"]
    with pytest.raises(ExtractRefused, match="dx is a code list"):
        narrowed(policy, ExtractSpec("t", "a study", kind="condensed", columns=("age", "dx")))


# -- the policy ----------------------------------------------------------------------------------------------------


def test_the_hash_is_that_of_the_meaning(tmp_path: Path) -> None:
    def digest(more: str) -> str:
        return parse_policy(policy_text(more), folder=tmp_path).hash

    tmp_path.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    tmp_path.joinpath("known.csv").write_text("296.02;296.00;296.01\n", encoding="utf-8")
    assert digest("") == digest('method = "cba"\nunknown = "refuse"\nprotect = { m = 2 }\nutility = { level = 1 }')
    assert digest(KNOWN) == digest('protect = { kind = "itemsets", itemsets = "known.csv" }')
    assert len({digest(""), digest(KNOWN), digest('method = "ugaclip"'), digest('unknown = "other"')}) == 4


def test_every_method_of_the_policy_is_there() -> None:
    offered = {name for names in METHODS.values() for name in names}
    assert offered == set(code_methods.METHODS.names())


def test_a_kept_policy_is_the_same(tmp_path: Path) -> None:
    tmp_path.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    policy = parse_policy(policy_text(KNOWN), folder=tmp_path)
    assert read_policy(write_policy(policy)) == policy
