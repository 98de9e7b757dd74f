"""Everything that a policy may ask for about knowing codes: published by its method, and judged by brute force."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.code_lists import code_items
from querygate.custody.code_lists.code_protection import protect
from querygate.custody.policy import parse_policy
from querygate.custody.publish.publish import Report
from querygate.methods.code_lists import Baskets, Items, LocalItems
from querygate.methods.code_lists.relational import CodesInClasses
from querygate.site.open_gate import OpenSite
from tests.policies import ROUGH_AGE, code_list, make_policy
from tests.unit.custody.publish.publications import ask, ends, new_site, put

CODES = tuple(f"{group}.{digit}" for group in ("295", "296", "401", "402") for digit in range(4))
ROWS = "".join(f"{code};{code[:3]};{code[0]};any\n" for code in CODES)
SECRET = ("295.0", "296.1")
POLICY = make_policy("t", {"age": ROUGH_AGE, "dx": code_list("codes.csv")}, k=3)
KINDS = {
    "complete": '{ kind = "complete", k = 4 }',
    "classes": '{ kind = "classes", m = 2 }',
    "coherence": '{ kind = "coherence", sensitive = ["295.0", "296.1"], m = 2, share = 0.4, k = 4 }',
    "rules": """{ kind = "rules", share = 0.4, k = 4, rules = [
        { known = ["401.0"], secret = ["295.0"] }, { known = ["401.1", "402.2"], secret = ["295.0", "296.1"] } ] }""",
    "uncertainty": '{ kind = "uncertainty", sensitive = ["295.0", "296.1"], m = 2, share = 0.5 }',
    "patterns": """{ kind = "patterns", share = 0.1, k = 4, m = 2, rules = [
        { known = ["401.0"], secret = ["295.0"] }, { known = ["295.0"], secret = ["401.0"] },
        { known = [], secret = ["402.0"] } ] }""",
}


def people(rng: random.Random, number: int = 90) -> dict[str, list[Any]]:
    weights = [1 / (1 + i % 5) for i in range(len(CODES))]
    lists = [sorted(set(rng.choices(CODES, weights, k=rng.choice([0, 1, 2, 2, 3])))) for _ in range(number)]
    return {"age": [rng.randint(20, 80) for _ in lists], "dx": lists}


def publish(folder: Path, rows: dict[str, list[Any]], protect: str) -> tuple[OpenSite, Report]:
    folder.joinpath("codes.csv").write_text(ROWS, encoding="utf-8")
    opened = new_site(folder)
    return opened, put(opened, parse_policy(f"{POLICY}protect = {protect}\n", folder=folder), rows)


class Published:
    """What stands in the store, record by record, as somebody would read it who has it."""

    def __init__(self, opened: OpenSite) -> None:
        release: Any = opened.gate.store.current("t")
        told = release.dictionaries[1]
        codes: dict[int, set[str]] = {}
        for item, code in zip(told.entry_item.tolist(), told.entry_code.tolist(), strict=True):
            codes.setdefault(item, set()).add(told.codes[code] if code >= 0 else "")
        self.shown = {code for one in codes.values() for code in one}
        sets = [part.tolist() for part in np.split(told.members, told.starts[1:-1])]
        self.records = [
            (label, tuple(frozenset(codes[item]) for item in sets[s]))
            for label, s, n in _cells(release)
            for _ in range(n)
        ]

    def having(self, known: tuple[str, ...]) -> list[tuple[int, tuple[frozenset[str], ...]]]:
        """Records that may have all of these codes; one that is published nowhere narrows nothing down."""
        looked = [code for code in known if code in self.shown]
        return [one for one in self.records if all(any(code in item for item in one[1]) for code in looked)]


def _cells(release: Any) -> list[tuple[int, int, int]]:
    found = release._connection.execute("SELECT class, c1_items, n FROM cells").fetchall()
    return [(int(label), int(s), int(n)) for label, s, n in found]


def sets_upto(codes: tuple[str, ...], m: int) -> list[tuple[str, ...]]:
    return [one for size in range(1, m + 1) for one in itertools.combinations(codes, size)]


def judge(kind: str, seen: Published) -> None:
    public = tuple(code for code in CODES if code not in SECRET)
    if kind == "complete":
        assert min(Counter(items for _, items in seen.records).values()) >= 4
    if kind == "classes":
        for known in sets_upto(CODES, 2):
            by_class = Counter(label for label, _ in seen.having(known))
            if all(code in seen.shown for code in known):
                assert min(by_class.values(), default=3) >= 3, known
    if kind == "coherence":
        for known in sets_upto(public, 2):
            found = seen.having(known)
            assert not found or len(found) >= 4
            assert_untold(found, known, 0.4)
    if kind == "rules":
        for known, secret in ((("401.0",), ("295.0",)), (("401.1", "402.2"), ("295.0", "296.1"))):
            found = seen.having(known)
            assert not found or len(found) >= 4
            both = [one for one in found if all(any(code in item for item in one[1]) for code in secret)]
            assert len(both) <= 0.4 * len(found)
    if kind == "uncertainty":
        for known in sets_upto(CODES, 2):
            assert_untold(seen.having(known), known, 0.5)

    if kind == "patterns":
        for known in sets_upto(CODES, 2):
            found = seen.having(known)
            assert not found or len(found) >= 4
        told = [{min(item) for item in one if len(item) == 1} for _, one in seen.records]
        for first, second in (({"401.0"}, "295.0"), ({"295.0"}, "401.0"), (set[str](), "402.0")):
            holding = [codes for codes in told if first <= codes]
            assert sum(second in codes for codes in holding) <= 0.1 * len(holding)


def assert_untold(found: list[Any], known: tuple[str, ...], share: float) -> None:
    for secret in SECRET:
        if secret not in known:
            having = [one for one in found if any(secret in item for item in one[1])]
            assert len(having) <= share * len(found) + 1e-9, (known, secret)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_asked_for_is_kept(kind: str, seed: int, tmp_path: Path) -> None:
    rows = people(random.Random(seed))
    opened, report = publish(tmp_path, rows, KINDS[kind])
    judge(kind, Published(opened))
    measured = report.measured.kept
    if kind != "uncertainty":
        assert measured["fewest records with known codes of dx"] >= (3 if kind == "classes" else 4)
    if kind in ("coherence", "rules", "uncertainty"):
        assert measured["surest sensitive code of dx"] <= 0.5
    if kind == "patterns":
        assert measured["surest hidden pattern of dx"] <= 0.1
        assert measured["largest share of the records with an unknown code of dx that have it"] <= 0.5
    for code in CODES:
        low, high = ends(opened, "COUNT(*)", f"has_code(dx, '{code}')")
        assert low <= sum(code in held for held in rows["dx"]) <= high


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_that_does_nothing_is_not_believed(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def locally(lists: Any) -> LocalItems:
        groups = tuple((code,) for code in range(lists.baskets.size))
        return LocalItems(lists.baskets, groups, 0, 0.0)

    def nothing(lists: Any, *_: Any) -> Items | LocalItems:
        return locally(lists) if kind == "complete" else Items.unchanged(lists.baskets.size)

    def nothing_in_classes(lists: Any, _: int, classes: Any, __: Any) -> CodesInClasses:
        return CodesInClasses(classes, locally(lists), 0)

    monkeypatch.setattr(code_items, "protect", nothing)
    monkeypatch.setattr(code_items, "protect_in_classes", nothing_in_classes)
    rows = people(random.Random(1))
    rows["dx"] = [["401.0", "295.0"], ["401.0", "401.1"], *rows["dx"][2:]]
    rows["dx"] = [[c for c in one if c != "401.0" or i < 2] for i, one in enumerate(rows["dx"])]
    with pytest.raises(ConfigError) as caught:
        publish(tmp_path, rows, KINDS[kind])
    assert caught.value.code == "QG803"
    assert "dx" in caught.value.detail


def test_records_that_are_not_told_say_nothing(tmp_path: Path) -> None:
    """Fewer than k have no codes: some others are published like them, and of none of them anything is known."""
    rows: dict[str, list[Any]] = {"age": [40] * 9, "dx": [[]] + [["401.0"]] * 4 + [["295.0", "295.1"]] * 4}
    opened, report = publish(tmp_path, rows, '{ kind = "complete", k = 3 }')
    seen = Published(opened)
    untold = [items for _, items in seen.records if any("" in item for item in items)]
    assert len(untold) >= 3
    assert report.codes[0].lost > 0
    low, high = ends(opened, "COUNT(*)", "has_code(dx, '401.0')")
    assert low <= 4 <= high
    assert ends(opened, "COUNT(*)", "has_code(dx, '402.3')") == (0, 0)


def test_an_estimate_does_not_tell_a_hidden_pattern(tmp_path: Path) -> None:
    """Half of the marks are true: to count each as a half would tell what they hide."""
    rows: dict[str, list[Any]] = {"age": [40] * 100, "dx": [["401.0", "295.0"]] * 40 + [["401.0"]] * 40 + [[]] * 20}
    rule = '{ known = ["401.0"], secret = ["295.0"] }'
    opened, _ = publish(tmp_path, rows, f'{{ kind = "patterns", share = 0.1, rules = [{rule}] }}')
    both = "SELECT COUNT(*) AS n, COUNT_IF(has_code(dx, '295.0')) AS both FROM t WHERE has_code(dx, '401.0')"
    (row,) = ask(opened, both)
    assert row["n"]["estimate"] == 80
    assert row["both"]["low"] <= row["both"]["estimate"] <= 8
    assert row["both"]["high"] >= 40


def test_marks_that_would_tell_the_code_are_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A method whose marks are all true keeps every other promise."""

    def true_alone(lists: Any, k: int, staging: Any) -> LocalItems:
        made = protect(lists, k, staging)
        assert isinstance(made, LocalItems)
        (mark,) = (item for item, group in enumerate(made.groups) if len(group) == 2)
        secret = made.groups[mark][0]
        told = [
            [item for item in items if item != mark or secret in held]
            for held, items in zip(lists.baskets.lists(), made.published.lists(), strict=True)
        ]
        return replace(made, published=Baskets.of(told, made.published.size))

    rows: dict[str, list[Any]] = {"age": [40] * 100, "dx": [["401.0", "295.0"]] * 40 + [["401.0"]] * 40 + [[]] * 20}
    asked = '{ kind = "patterns", share = 0.1, rules = [{ known = ["401.0"], secret = ["295.0"] }] }'
    tmp_path.joinpath("kept").mkdir()
    _, report = publish(tmp_path / "kept", rows, asked)
    assert report.measured.kept["largest share of the records with an unknown code of dx that have it"] == 0.5
    monkeypatch.setattr(code_items, "protect", true_alone)
    tmp_path.joinpath("broken").mkdir()
    with pytest.raises(ConfigError, match="at most half of the records in which a secret code") as caught:
        publish(tmp_path / "broken", rows, asked)
    assert caught.value.code == "QG803"


def test_classes_are_merged_where_codes_ask_for_it(tmp_path: Path) -> None:
    """Two in each class have a code of their own: no class of three can tell it, so all become one."""
    rows: dict[str, list[Any]] = {"age": [20] * 3 + [50] * 3 + [80] * 3, "dx": [["401.0"], ["401.0"], []] * 3}
    opened, _ = publish(tmp_path, rows, '{ kind = "classes", m = 1 }')
    assert len({label for label, _ in Published(opened).records}) == 1
    assert ends(opened, "COUNT(*)", "has_code(dx, '401.0')") == (6, 6)
    assert ends(opened, "COUNT(*)", "age < 30") == (0, 9)


@pytest.mark.parametrize(
    ("protect", "says"),
    [
        ('{ kind = "coherence", sensitive = [], share = 0.5 }', "protect.sensitive"),
        ('{ kind = "coherence", sensitive = ["295.0"], share = 1.0 }', "protect.share"),
        ('{ kind = "coherence", sensitive = ["295.0"] }', "protect.share: is missing"),
        ('{ kind = "coherence", sensitive = ["999"], share = 0.5 }', "999 is not a code"),
        ('{ kind = "uncertainty", sensitive = ["295.0"], share = 0.5, k = 3 }', "does not apply to kind uncertainty"),
        ('{ kind = "rules", share = 0.5, rules = [{ known = ["401.0"] }] }', "is not a list of rules"),
        (
            '{ kind = "rules", share = 0.5, rules = [{ known = ["401.0"], secret = ["401.0"] }] }',
            "401.0 is known in one place and secret in another",
        ),
        ('{ kind = "rules", share = 0.5, rules = [{ known = ["401"], secret = ["295.0"] }] }', "401 is not a code"),
        ('{ kind = "patterns", share = 0.5, rules = [{ known = ["401.0"], secret = [] }] }', "is not a list of rules"),
        (
            '{ kind = "patterns", share = 0.5, rules = [{ known = ["401.0"], secret = ["401.0"] }] }',
            "401.0 is on both sides",
        ),
        ('{ kind = "patterns", share = 0.5, support = 0, rules = [] }', "protect.support"),
        ('{ kind = "rules", share = 0.5, support = 3, rules = [] }', "does not apply to kind rules"),
        ('{ kind = "complete", m = 2 }', "does not apply to kind complete"),
        ('{ kind = "classes", m = 9 }', "protect.m"),
        ('{ kind = "complete", k = 4000 }', "k = 4,000"),
        ('{ kind = "coherence", sensitive = ["4"], share = 0.1, m = 1 }', "whatever else is known"),
    ],
)
def test_what_cannot_be_meant_is_refused(protect: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        publish(tmp_path, people(random.Random(0)), protect)
    assert says in caught.value.detail
    assert caught.value.code in ("QG801", "QG803")


def test_a_code_nobody_has_may_stand_in_rules(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"age": [40] * 8, "dx": [["401.0", "295.0"]] * 2 + [["401.0"]] * 3 + [["402.0"]] * 3}
    rules = """{ kind = "rules", share = 0.5, rules = [
        { known = ["402.3"], secret = ["295.0"] }, { known = ["401.0"], secret = ["295.0", "296.3"] } ] }"""
    opened, report = publish(tmp_path, rows, rules)
    assert report.measured.kept["surest sensitive code of dx"] == 0
    assert ends(opened, "COUNT(*)", "has_code(dx, '295.0')") == (2, 2)
    assert np.isfinite(report.codes[0].lost)
