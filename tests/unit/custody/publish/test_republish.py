"""A second version of the same people: what passes, what is refused with a plan, what is retired, who is deleted."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.cli.dataset import explain_versions
from querygate.core.errors import ConfigError
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.delete_person import delete_from, pseudonym
from querygate.custody.use_cases.publish_version import publish_to, retire_version, serve_version
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.store import retired_versions
from querygate_adapters.store.duckdb_lockdown import attached
from querygate_adapters.vault import version_writer
from tests.engine import engine, reading
from tests.policies import AGE, IDENTIFIER, REGISTER, Column, make_policy, sensitive
from tests.unit.custody.publish.publications import copy_site, ends, new_site, put, staged_files, write_parquet

K = 4
POLICY = REGISTER.but(k=K)
NOBODY = POLICY.but(person=None)
CHANGED = POLICY.but(columns={"age": {"weight": 1}})
STICKY, RETIRE = {"on_overlap": "sticky"}, {"on_overlap": "retire"}
LENIENT = STICKY | {"few_changes": "report"}

People = dict[str, list[Any]]


def people(number: int, first: int = 0) -> People:
    rng = np.random.default_rng(first + 1)
    return {
        "mrn": [f"m{first + i}" for i in range(number)],
        "age": rng.integers(18, 90, number).tolist(),
        "zip": rng.integers(0, 1000, number).tolist(),
        "ward": [f"w{ward}" for ward in rng.integers(0, 5, number)],
    }


def both(one: People, other: People) -> People:
    return {name: one[name] + other[name] for name in one}


def without(one: People, which: set[int]) -> People:
    return {name: [value for i, value in enumerate(values) if i not in which] for name, values in one.items()}


ALL = people(240)
ANOTHER = next(ward for ward in ALL["ward"] if ward != ALL["ward"][-1])


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    again(opened, POLICY, ALL)
    return opened


@pytest.fixture
def opened(published: OpenSite, tmp_path: Path) -> OpenSite:
    return copy_site(published, tmp_path)


def again(opened: OpenSite, policy: str, columns: People) -> Report:
    return put(opened, policy, columns, handling=None)


def refused(attempt: Callable[[], Any]) -> ConfigError:
    with pytest.raises(ConfigError) as found:
        attempt()
    assert found.value.code == "QG803"
    return found.value


def groups(opened: OpenSite, old: int, new: int) -> Iterator[tuple[int, int]]:
    """Of those who were together in the old version: how many there were, and how many are together in the new one."""
    files = {f"v{version}": opened.site.vault / "t" / f"v{version:05d}.duckdb" for version in (old, new)}
    with attached(engine(), files) as database:
        classes = {
            v: f"(SELECT mrn, class AS c{v} FROM v{v}.rows JOIN v{v}.row_class USING (row_id))" for v in (old, new)
        }
        yield from database.execute(
            f"SELECT SUM(COUNT(*)) OVER (PARTITION BY c{old}), COUNT(*) FROM {classes[old]} JOIN {classes[new]} "
            f"USING (mrn) GROUP BY c{old}, c{new}"
        ).fetchall()


# -- the same people -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [POLICY, NOBODY], ids=["by person", "by contents"])
def test_the_same_source_passes_again_and_again(tmp_path: Path, policy: str) -> None:
    opened = new_site(tmp_path)
    reports = [again(opened, policy, ALL) for _ in range(3)]

    assert reports[0].versions is None
    for report in reports[1:]:
        assert report.versions is not None
        assert report.versions.together.smallest == report.measured.k
        assert not report.versions.sticky
    assert list(reports[2].versions.by_version) == [1, 2]
    assert opened.store.versions("t") == (1, 2, 3)


def test_a_site_may_lie_behind_a_link_with_a_quote_in_its_name(published: OpenSite, tmp_path: Path) -> None:
    """Of all files a publication may open those of its dataset, wherever they are."""
    (tmp_path / "real").mkdir()
    (tmp_path / "it's").symlink_to(tmp_path / "real")
    opened = copy_site(published, tmp_path / "it's")

    assert again(opened, POLICY, ALL).versions.together.divided == 0


def test_the_order_of_the_source_does_not_matter(opened: OpenSite) -> None:
    order = np.random.default_rng(5).permutation(240)
    shuffled = {name: [values[i] for i in order] for name, values in ALL.items()}

    assert again(opened, POLICY, shuffled).versions.together.divided == 0
    assert again(opened, NOBODY, shuffled).versions.together.divided == 0


def test_other_classes_of_the_same_people_are_refused_with_a_plan(opened: OpenSite) -> None:
    error = refused(lambda: again(opened, CHANGED, ALL))

    assert "version 1" in error.detail
    assert "parts of earlier classes" in error.detail
    assert 'on_overlap = "sticky"' in error.remedy
    assert "NCP" in error.remedy
    assert ("raise k to" in error.remedy) != ("Raising k does not help: none up to" in error.detail)
    assert "no k" not in error.remedy
    assert "retire version 1" in error.remedy
    assert opened.store.current("t").catalog.version == 1
    assert staged_files(opened) == []


def test_the_plan_holds(opened: OpenSite) -> None:
    """What the refusal says of sticky classes is what they do."""
    error = refused(lambda: again(opened, CHANGED, ALL))
    report = again(opened, CHANGED.but(republish=STICKY), ALL)
    loss = np.mean(list(report.loss.values()))

    assert f"{loss:.2%} instead of" in error.remedy
    assert f"smallest group {report.versions.together.smallest}" in error.remedy
    assert report.versions.sticky
    assert all(now >= K for _, now in groups(opened, 1, 2))


def test_a_lower_k_divides_classes_into_classes(opened: OpenSite) -> None:
    """Parts of at least k people of the new policy are classes like any other."""
    large = new_site(opened.site.folder.parent / "large")
    again(large, POLICY.but(k=16), ALL)
    report = again(large, POLICY.but(republish=STICKY), ALL)

    assert report.versions.together.smallest >= K
    assert report.classes > 240 / 32


# -- other people ----------------------------------------------------------------------------------------------------


def test_many_newcomers_have_classes_of_their_own(opened: OpenSite) -> None:
    report = again(opened, POLICY.but(republish=STICKY), both(ALL, people(60, 1000)))

    assert report.rows == 300
    assert report.versions.together.came == 0
    assert report.versions.together.smallest >= K


def test_few_newcomers_are_refused_or_reported(opened: OpenSite) -> None:
    more = both(ALL, people(2, 1000))
    error = refused(lambda: again(opened, POLICY.but(republish=STICKY), more))
    assert "2 people in" in error.detail
    assert "wait until more people have been added" in error.remedy

    report = again(opened, POLICY.but(republish=LENIENT), more)
    assert report.versions.together.came == 2
    assert all(now in (were, now) and (now >= K or now == were) for were, now in groups(opened, 1, 2))


def test_few_leavers_are_refused_or_reported(opened: OpenSite) -> None:
    fewer = without(ALL, {3, 77, 150})
    error = refused(lambda: again(opened, POLICY.but(republish=STICKY), fewer))
    assert "groups that some people left" in error.detail
    assert 'few_changes = "report"' in error.remedy

    report = again(opened, POLICY.but(republish=LENIENT), fewer)
    assert report.measured.k >= K
    assert report.versions.together.left > 0
    assert report.versions.together.divided == 0
    assert all(now >= K or now == were for were, now in groups(opened, 1, 2))


def test_a_class_may_leave_as_a_whole(opened: OpenSite) -> None:
    with reading(opened.site.vault / "t" / "v00001.duckdb") as vault:
        found = vault.execute("SELECT mrn FROM rows JOIN row_class USING (row_id) WHERE class = 0").fetchall()
    gone = {ALL["mrn"].index(mrn) for (mrn,) in found}
    report = again(opened, POLICY.but(republish=STICKY), without(ALL, gone))

    assert report.rows == 240 - len(gone)
    assert report.versions.together.left == 0


def test_people_who_grow_older_keep_their_class(opened: OpenSite) -> None:
    older = {**ALL, "age": [min(age + 1, 100) for age in ALL["age"]]}
    report = again(opened, POLICY.but(republish=STICKY), older)

    assert report.versions.by_person
    assert report.versions.together.smallest >= K
    assert report.versions.together.changed == 0


@pytest.mark.parametrize("ward", [ANOTHER, None], ids=["another", "none any more"])
def test_one_changed_diagnosis_is_a_difference_like_any_other(opened: OpenSite, ward: str | None) -> None:
    """Between the two versions the counts of two wards differ by one, exactly: the ward of whoever was moved."""
    moved = {**ALL, "ward": [*ALL["ward"][:-1], ward]}
    for policy in (POLICY, POLICY.but(republish=STICKY)):
        error = refused(lambda policy=policy: again(opened, policy, moved))
        assert "1 person in 1 group of people whose sensitive values changed" in error.detail
        assert 'few_changes = "report"' in error.remedy
        assert "sticky" not in error.remedy
        assert "smallest" not in error.detail, "that of those who stayed is k or more: it explains nothing"
        assert not {ANOTHER, "m239"} & set(error.detail.split() + error.remedy.split())

    report = again(opened, POLICY.but(republish=LENIENT), moved)
    assert report.versions.together.changed == report.versions.by_version[1].changed == 1
    assert any("1 with new sensitive values" in line for line in explain_versions(report.versions))


def test_whole_classes_may_change(opened: OpenSite) -> None:
    """Everybody's ward is another one: nobody's is told by it that the class does not tell."""
    moved = {**ALL, "ward": [f"v{ward[1]}" for ward in ALL["ward"]]}
    report = again(opened, POLICY.but(republish=STICKY), moved)

    assert report.versions.together.changed == 0


def test_those_who_changed_must_not_be_alike(opened: OpenSite) -> None:
    """Four of a class are enough for k, but all of them have come to one ward."""
    with reading(opened.site.vault / "t" / "v00001.duckdb") as vault:
        found = vault.execute(
            "SELECT list(mrn ORDER BY mrn) FROM rows JOIN row_class USING (row_id) GROUP BY class ORDER BY 1"
        ).fetchall()
    some = set(next(members for (members,) in found if len(members) > K)[:K])
    moved = {**ALL, "ward": ["w9" if m in some else w for m, w in zip(ALL["mrn"], ALL["ward"], strict=True)]}

    error = refused(lambda: again(opened, POLICY, moved))
    assert f"{K} people in 1 group of people whose sensitive values changed" in error.detail


def test_a_change_back_differs_from_the_version_between(opened: OpenSite) -> None:
    moved = {**ALL, "ward": [*ALL["ward"][:-1], ANOTHER]}
    again(opened, POLICY.but(republish=LENIENT), moved)
    report = again(opened, POLICY.but(republish=LENIENT), ALL)

    assert [pair.changed for pair in report.versions.by_version.values()] == [0, 1]
    assert again(opened, POLICY.but(republish=RETIRE), ALL).versions.retired == (2,)


@pytest.mark.parametrize("policy", [POLICY, NOBODY], ids=["by person", "by contents"])
def test_a_secret_that_a_version_did_not_have_is_compared_with_those_that_did(tmp_path: Path, policy: Any) -> None:
    opened = new_site(tmp_path)
    again(opened, policy.but(columns={"ward": {"role": "withheld", "type": None, "diversity": None}}), ALL)
    again(opened, policy, ALL)

    error = refused(lambda: again(opened, policy, {**ALL, "ward": [*ALL["ward"][:-1], ANOTHER]}))
    assert "1 person in 1 group of people whose sensitive values changed" in error.detail


def test_changes_without_persons_cannot_be_judged(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    again(opened, NOBODY, ALL)
    older = {**ALL, "age": [age + 1 for age in ALL["age"][:9]] + ALL["age"][9:]}
    for policy in (NOBODY, NOBODY.but(republish=STICKY), NOBODY.but(republish=LENIENT)):
        error = refused(lambda policy=policy: again(opened, policy, older))
        assert "9 records of version 1" in error.detail
        assert 'person = "..."' in error.remedy
    assert again(opened, NOBODY.but(republish=RETIRE), older).versions.retired == (1,)


def test_a_person_who_comes_back_is_with_those_they_were_with(opened: OpenSite) -> None:
    again(opened, POLICY.but(republish=LENIENT), without(ALL, {3}))
    report = again(opened, POLICY.but(republish=LENIENT), ALL)

    assert all(now >= K or now == were for were, now in groups(opened, 1, 3))
    assert list(report.versions.by_version) == [1, 2]


def test_a_row_of_nobody_is_refused(tmp_path: Path) -> None:
    error = refused(lambda: again(new_site(tmp_path), POLICY, {**ALL, "mrn": [*ALL["mrn"][:-1], None]}))
    assert "mrn is missing in 1 of 240 rows" in error.detail


def test_a_person_who_has_come_to_have_two_rows_cannot_be_followed(opened: OpenSite) -> None:
    error = refused(lambda: again(opened, POLICY, {**ALL, "mrn": [*ALL["mrn"][:-1], "m1"]}))

    assert "People have several rows in the new version or in version 1" in error.detail
    assert "m1" not in error.detail


# -- retiring ------------------------------------------------------------------------------------------------------


def test_retiring_makes_room(opened: OpenSite) -> None:
    again(opened, POLICY, ALL)
    report = again(opened, CHANGED.but(republish=RETIRE), ALL)

    assert report.versions.retired == (1, 2)
    assert report.versions.by_version == {}
    assert opened.store.versions("t") == (3,)
    assert ends(opened, "COUNT(*)") == (240, 240)
    for version in (1, 2):
        with pytest.raises(ConfigError) as back:
            serve_version(opened, "t", version, user="carl")
        assert back.value.code == "QG804"
        assert "was retired" in back.value.detail
    assert again(opened, CHANGED, ALL).version == 4  # numbers are never used again


def test_a_version_is_retired_by_hand(opened: OpenSite) -> None:
    with pytest.raises(ConfigError, match="being served"):
        retire_version(opened, "t", 1, user="carl")
    again(opened, POLICY, ALL)
    serve_version(opened, "t", 1, user="carl")
    retire_version(opened, "t", 2, user="carl")

    assert opened.store.versions("t") == (1,)
    assert (opened.site.vault / "t" / "v00002.duckdb").is_file()
    assert [e["body"] for e in opened.log.events() if e["kind"] == "version.retire"] == [{"version": 2, "by": 1}]
    assert again(opened, POLICY, ALL).version == 3


def test_a_version_without_its_raw_rows_has_to_be_retired(opened: OpenSite) -> None:
    again(opened, POLICY, ALL)
    (opened.site.vault / "t" / "v00001.duckdb").unlink()
    error = refused(lambda: again(opened, POLICY, ALL))
    assert "v00001" in error.detail

    retire_version(opened, "t", 1, user="carl")
    assert again(opened, POLICY, ALL).version == 3


def test_a_retirement_that_was_cut_off_is_finished_or_forgotten(opened: OpenSite) -> None:
    folder = opened.site.store / "t"
    retired_versions.mark(folder, [1], by=2)  # version 2 never came
    assert retired_versions.readable_in(folder) == (1,)
    assert again(opened, POLICY, ALL).version == 2
    assert retired_versions.retired_in(folder) == {}

    retired_versions.mark(folder, [1, 2], by=3)
    os.link(folder / "v00002.duckdb", folder / "v00003.duckdb")  # it came, and was not pointed to any more
    assert opened.store.current("t").catalog.version == 2
    assert retired_versions.readable_in(folder) == (3,)
    with version_writer.DuckDBVersionWriter(opened.site.store, opened.site.vault).publishing("t"):
        assert retired_versions.current_version(folder) == 3
        assert not (folder / "v00001.duckdb").exists()
        assert not (folder / "v00002.duckdb").exists()


def test_the_log_and_the_listing_say_what_became_of_versions(opened: OpenSite, tmp_path: Path) -> None:
    source = str(write_parquet(tmp_path / "s.parquet", ALL))
    publish_to(opened, POLICY.parsed(), source, user="carl")
    publish_to(opened, CHANGED.parsed(), source, user="carl", on_overlap="retire")
    ends(opened, "COUNT(*)")
    events = [(e["kind"], e["body"]) for e in opened.log.events() if e["user"] == "carl"]

    assert events[0][1]["versions"] == {"laid_over": [1], "smallest": K, "sticky": False, "retired": []}
    assert events[1][1]["versions"]["retired"] == [1, 2]
    assert events[2:] == [("version.retire", {"version": 1, "by": 3}), ("version.retire", {"version": 2, "by": 3})]
    shown = json.loads(run(opened, "versions", "t", "--format", "json").output)
    assert [(v["version"], v["state"], v["answers"]) for v in shown] == [
        *((1, "retired", 0), (2, "retired", 0), (3, "served", 1)),
    ]


def run(opened: OpenSite, *words: object) -> Any:
    return CliRunner().invoke(main, ["--site", str(opened.site.folder), *map(str, words)], prog_name="querygate")


# -- deleting ------------------------------------------------------------------------------------------------------


def rows_of(opened: OpenSite, mrn: str) -> dict[str, int]:
    found = {}
    for file in sorted((opened.site.vault / "t").glob("v*.duckdb")):
        with reading(file) as database:
            [(found[file.stem],)] = database.execute("SELECT COUNT(*) FROM rows WHERE mrn = ?", [mrn]).fetchall()
    return found


def test_a_person_is_deleted_everywhere(opened: OpenSite) -> None:
    again(opened, POLICY, ALL)
    done = delete_from(opened, POLICY.parsed(), "m17", user="carl")

    assert (done.rows, done.held, done.retired, done.version) == (2, (1, 2), (1, 2), 3)
    assert rows_of(opened, "m17") == {"v00001": 0, "v00002": 0, "v00003": 0}
    assert rows_of(opened, "m18") == {"v00001": 1, "v00002": 1, "v00003": 1}
    assert opened.store.versions("t") == (3,)
    assert ends(opened, "COUNT(*)") == (239, 239)
    assert all(now >= K or now == were for were, now in groups(opened, 1, 3))
    assert staged_files(opened) == []


def test_the_log_has_the_deletion_and_not_the_person(opened: OpenSite) -> None:
    delete_from(opened, POLICY.parsed(), "m17", user="carl")
    events = {e["kind"]: e["body"] for e in opened.log.events()}
    name = pseudonym(opened, "t", "m17")

    assert events["person.delete"] == {"person": name, "versions": [1], "rows": 1, "keep_versions": False}
    assert events["person.deleted"] == {"person": name, "rows": 1, "held": [1], "retired": [1], "version": 2}
    assert "m17" not in json.dumps(list(opened.log.events()))
    assert pseudonym(opened, "t", "m18") != name


def test_the_next_publication_keeps_classes_after_a_deletion(opened: OpenSite) -> None:
    delete_from(opened, POLICY.parsed(), "m17", user="carl")
    report = again(opened, POLICY.but(republish=STICKY), without(ALL, {17}))

    assert report.versions.together.divided == 0
    assert list(report.versions.by_version) == [2]


def test_a_deletion_from_a_source_leaves_the_person_out(opened: OpenSite, tmp_path: Path) -> None:
    source = str(write_parquet(tmp_path / "s.parquet", ALL))
    done = delete_from(opened, POLICY.parsed(), "m17", user="carl", source=source)

    assert done.version == 2
    assert rows_of(opened, "m17") == {"v00001": 0, "v00002": 0}


def test_versions_that_are_kept_must_go_with_the_new_one(opened: OpenSite) -> None:
    error = refused(lambda: delete_from(opened, POLICY.parsed(), "m17", user="carl", keep_versions=True))
    assert "groups that some people left" in error.detail
    assert rows_of(opened, "m17") == {"v00001": 1}

    lenient = POLICY.but(republish=LENIENT).parsed()
    done = delete_from(opened, lenient, "m17", user="carl", keep_versions=True)
    assert done.retired == ()
    assert opened.store.versions("t") == (1, 2)
    assert rows_of(opened, "m17") == {"v00001": 0, "v00002": 0}


def test_who_is_not_there_cannot_be_deleted(opened: OpenSite) -> None:
    for policy, key, code in ((POLICY, "nobody", "QG804"), (NOBODY, "m17", "QG801")):
        with pytest.raises(ConfigError) as found:
            delete_from(opened, policy.parsed(), key, user="carl")
        assert found.value.code == code
        assert "nobody" not in found.value.detail


def test_a_deletion_that_was_cut_off_is_finished(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off after the switch, and after the first of two vaults."""
    again(opened, POLICY, ALL)
    right, calls = version_writer.remove, []

    def cut(*args: Any) -> None:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        right(*args)

    monkeypatch.setattr(version_writer, "remove", cut)
    with pytest.raises(KeyboardInterrupt):
        delete_from(opened, POLICY.parsed(), "m17", user="carl")
    assert rows_of(opened, "m17") == {"v00001": 0, "v00002": 1, "v00003": 0}
    monkeypatch.undo()

    done = delete_from(open_gate(open_site(opened.site.folder)), POLICY.parsed(), "m17", user="carl")
    assert (done.rows, done.version, done.retired) == (1, None, ())
    assert opened.store.versions("t") == (3,)
    assert set(rows_of(opened, "m17").values()) == {0}


def test_the_commands(opened: OpenSite, tmp_path: Path) -> None:
    policy, source = tmp_path / "t.toml", write_parquet(tmp_path / "s.parquet", ALL)
    policy.write_text(CHANGED)
    publish = ("publish", "--policy", policy, "--source", source, "--report", "none")
    ended = run(opened, *publish)
    assert ended.exit_code == 1
    assert "--on-overlap retire" in ended.stderr
    ended = run(opened, *publish, "--on-overlap", "sticky")
    assert ended.exit_code == 0
    assert "classes of earlier versions were kept together" in ended.output
    ended = run(opened, "retire", "t", 1)
    assert (ended.exit_code, ended.output) == (0, "t: version 1 is retired.\n")
    ended = run(opened, "rollback", "t", 1)
    assert ended.exit_code == 2
    ended = run(opened, "person", "delete", "--policy", policy, "--key", "m17")
    assert ended.exit_code == 0
    assert "Deleted from t: 2 rows, in versions 1, 2." in ended.output
    assert "m17" not in ended.output
    assert ends(open_gate(open_site(opened.site.folder)), "COUNT(*)") == (239, 239)


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([60 + 7 * i % 50 for i in range(60)], sensitive("integer", (40, 300)) | {"guard": 2}),
        ([60.5 + 7 * i % 50 for i in range(60)], sensitive("number", (40, 300)) | {"guard": 1, "bins": 10}),
        ([dt.date(2020, 1, 1 + 7 * i % 31) for i in range(60)], sensitive("date", ("2020-01-01", "2020-12-31"))),
        ([str(i % 3) for i in range(60)], sensitive("category")),
    ],
)
def test_a_column_that_was_not_published_before_has_not_changed(
    tmp_path: Path, values: list[Any], column: Column
) -> None:
    """An identifier is kept as text: published since as a number or a date, it still has the same values."""
    opened = new_site(tmp_path)
    known = {"mrn": [f"P{i}" for i in range(60)], "age": [20 + i // 5 for i in range(60)], "x": values}

    def rules(x: Column) -> str:
        return make_policy("t", {"mrn": IDENTIFIER, "age": AGE, "x": x}, k=5, person="mrn")

    put(opened, rules(IDENTIFIER), known)
    report = put(opened, rules(column), known, handling=None)
    assert report.versions is not None
    assert report.versions.together.changed == 0
    with pytest.raises(ConfigError, match="2 people in 1 group of people whose sensitive values changed"):
        put(opened, rules(column), known | {"x": [values[1], values[0], *values[2:]]}, handling=None)


def test_nobody_waits_for_changes_once_all_have_changed(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    rules = make_policy("t", {"mrn": IDENTIFIER, "age": AGE, "x": sensitive("category")}, k=5, person="mrn")
    known = {"mrn": [f"P{i}" for i in range(60)], "age": [20 + i // 5 for i in range(60)]}
    narrow = rules.but(columns={"x": {"diversity": {"kind": "distinct", "l": 2}}})
    put(opened, rules, known | {"x": ["a" if i < 30 else "b" for i in range(60)]})
    with pytest.raises(ConfigError, match=r"60 people in .* whose sensitive values changed") as refused:
        put(opened, narrow, known | {"x": ["b" if i < 30 else "a" for i in range(60)]}, handling=None)
    assert "wait until" not in refused.value.remedy
