"""What a policy costs, as the command tells it before anything is published."""

from __future__ import annotations

import csv
import json
import random
import tomllib
from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from querygate.cli import main
from querygate.cli.policy_preview import pasteable, tell_changes, tell_own
from querygate.core.json_body import from_json
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.use_cases.policy_preview import PolicyPreview, PreviewScale, begin_preview, preview
from querygate.custody.use_cases.trial_version import published_on_trial
from querygate.custody.workload.preview_figures import LEAST_GAIN, MeasuredEdit
from querygate.custody.workload.usable_share import standing
from querygate.custody.workload.workload_sample import drawn
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.sampled_source import SampledSource
from tests.policies import IDENTIFIER, PolicyText, diverse, make_policy, quasi, sensitive

QUESTIONS = 20
ALTER = quasi("integer", (0, 99), grid=1, cuts=[50])
POLICY = make_policy(
    "visits",
    {
        "id": IDENTIFIER,
        "alter": quasi("integer", (0, 99), grid=5),
        "größe": quasi("category", values=["klein", "groß"]),
        "sbp": sensitive("integer", (60, 220), bins=40, guard=20),
        "ill": sensitive("category", values=["no", "yes"]) | diverse("distinct", l=2),
        "never": sensitive("boolean"),
    },
    k=3,
    person="id",
    anonymise={"method": "mondrian"},
)


def rows_of(people: int, seed: int = 3) -> list[list[object]]:
    """Two visits of each; some of everything is missing, and one column is missing altogether."""
    rng = random.Random(seed)
    return [
        [f"0{person}ü", rng.choice([rng.randrange(100), 50, ""]), rng.choice(["klein", "groß", "groß", ""]),
         rng.choice([120, 121, 95, 180, ""]), "yes" if person % 2 else "no", ""]
        for person in range(people) for _ in range(2)
    ]  # fmt: skip


def written(folder: Path, policy: PolicyText, rows: Sequence[Sequence[object]]) -> tuple[Path, Path]:
    file, source = folder / "visits.toml", folder / "visits.csv"
    with source.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows([list(policy.tables["columns"]), *rows])
    file.write_text(policy, encoding="utf-8")
    return file, source


def previewed(folder: Path, policy: PolicyText, rows: Sequence[Sequence[object]], *options: str) -> Result:
    file, source = written(folder, policy, rows)
    given = ["policy", "preview", "--policy", str(file), "--source", str(source), "--questions", str(QUESTIONS)]
    return CliRunner().invoke(main, [*given, *options])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("preview")


@pytest.fixture(scope="module")
def found(folder: Path) -> PolicyPreview:
    """Thirty-six rows of eighteen people, so that k = 20 cannot be kept, and of these fewer are used."""
    done = previewed(folder, POLICY, rows_of(18), "--records", "32", "--format", "json")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""  # no bar where nobody looks
    return from_json(PolicyPreview, json.loads(done.stdout))


def pasted(edit: MeasuredEdit) -> PolicyText:
    """The file after a custodian has put each table in the place of the one with its name."""
    file, tables = tomllib.loads(POLICY), tomllib.loads(edit.toml)
    return PolicyText(file | tables | {"columns": file["columns"] | tables.get("columns", {})})


def test_every_k_quasi_identifier_guard_and_rule_has_a_line(found: PolicyPreview) -> None:
    cost = found.cost
    assert (found.records, found.used) == (36, 32)
    assert found.whole is not None
    assert found.whole.figures >= cost.own.figures > 0
    assert cost.own == found.own.standing
    assert cost.own.error is not None
    assert 0 < cost.own.error < 1
    assert [one.name for one in cost.by_k] == ["k = 5", "k = 10", "k = 20"]
    rules = ["without alter", "without größe", "guard of sbp 20 -> 10", "without diversity of ill"]
    assert [one.name for one in cost.costs] == rules
    for one in (*cost.by_k, *cost.costs, *cost.edits):
        shares = one.before.share, 0.0 if one.after.problem else one.after.share
        assert all(share is not None and 0 <= share <= 1 for share in shares), one


def test_a_k_that_cannot_be_kept_is_a_line_with_its_reason(found: PolicyPreview) -> None:
    *_, twenty = found.cost.by_k
    assert twenty.after.problem == "The source has 32 rows of 16 people, fewer than k = 20."
    assert twenty.after.share is None


def test_without_a_column_both_shares_are_of_the_questions_that_are_not_about_it(found: PolicyPreview) -> None:
    for one in found.cost.costs[:2]:
        assert one.before.figures == one.after.figures < found.cost.own.figures


def test_edits_are_of_all_figures_and_help_most_first(found: PolicyPreview) -> None:
    edits = found.cost.edits
    assert 0 < len(edits) <= 3
    assert {one.before for one in edits} == {found.cost.own}
    assert {one.after.figures for one in edits} == {found.cost.own.figures}
    gains = [(one.after.share or 0) - (one.before.share or 0) for one in edits]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] >= LEAST_GAIN


def test_what_a_change_is_said_to_bring_is_what_the_file_has_with_its_lines(found: PolicyPreview, folder: Path) -> None:
    used = SampledSource(open_source(str(folder / "visits.csv")), 32, "id")
    with published_on_trial(POLICY.parsed(), used) as before:
        asked = drawn(before.questions(10**6), QUESTIONS)
        assert standing(before.figures(asked)) == found.cost.own
    *_, ten, _ = found.cost.by_k
    assert ten.after != ten.before
    with published_on_trial(pasted(ten).parsed(), used) as after:
        assert standing(after.figures(asked)) == ten.after


def test_the_page_says_how_many_records_were_used_and_what_to_paste(
    found: PolicyPreview, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = PolicyFile.read(folder / "visits.toml")
    measured = begin_preview(read, str(folder / "visits.csv"), PreviewScale.of(read.policy, 32, QUESTIONS, None))
    tell_own(measured, measured.of_policy())
    tell_changes(found)
    said = capsys.readouterr().out
    assert "Measured on 32 of 36 records, whole persons drawn by a fixed rule." in said
    assert "On all records " in said
    assert "without größe " in said
    assert "k = 20 cannot be published: The source has 32 rows of 16 people" in said
    for one in found.cost.edits:
        for line in one.toml.splitlines():
            assert f"    {line}".rstrip() in said


def test_lines_to_paste_mean_the_same_on_a_terminal() -> None:
    tables = {"columns": {"a\u2028b": {"values": ["red\x9b31m", "\u202eü\u2029", "\x7f\n"]}}}
    shown = pasteable(write_toml(tables))
    assert all(line.isprintable() for line in shown.split("\n"))
    assert tomllib.loads(shown) == tables


@pytest.mark.parametrize("number", [0, 1])
def test_where_nothing_can_be_published_the_reason_is_the_answer(tmp_path: Path, number: int) -> None:
    done = previewed(tmp_path, make_policy("visits", {"alter": ALTER}), [[7]] * number)
    assert done.exit_code != 0
    assert "QG803" in done.stderr
    assert f"The source has {number} rows, fewer than k = 5" in done.stderr


def test_a_policy_that_cannot_be_kept_is_told_what_would_make_it_one(tmp_path: Path) -> None:
    """Everybody has the same value, so that no class has two."""
    ill = sensitive("category", values=["no", "yes"]) | diverse("distinct", l=2)
    file, source = written(tmp_path, make_policy("t", {"alter": ALTER, "ill": ill}), [[i, "no"] for i in range(30)])
    cost = preview(PolicyFile.read(file), str(source), PreviewScale(questions=QUESTIONS)).cost
    assert cost.own.problem
    assert cost.own.share is None
    (rule,) = cost.costs
    assert rule.before == cost.own
    assert (rule.after.share or 0) > 0


def test_a_trial_needs_no_auditor_and_without_sensitive_columns_counts_are_asked(tmp_path: Path) -> None:
    policy = make_policy("t", {"alter": ALTER}, audit={"on_differencing": "refuse"})
    _, source = written(tmp_path, policy, [[i] for i in range(30)])
    with published_on_trial(policy.parsed(), open_source(str(source))) as trial:
        figures = trial.figures(trial.questions(10))
    assert {figure.kind for figure in figures} == {"count"}


def test_a_mistake_in_the_file_ends_it(tmp_path: Path) -> None:
    done = previewed(tmp_path, POLICY.but(columns={"alter": None, "größe": None}), [["", "", "", ""]])
    assert done.exit_code != 0
    assert "no quasi-identifier" in done.stderr


VIEWS = make_policy(
    "visits",
    {
        "id": IDENTIFIER,
        "alter": quasi("integer", (0, 99), grid=1, cuts=[50]),
        "größe": quasi("category", values=["klein", "groß"]),
        "sbp": sensitive("integer", (60, 220), bins=10, guard=20),
        "dbp": sensitive("integer", (60, 220), bins=10, guard=20),
        "ill": sensitive("boolean"),
        "never": sensitive("boolean"),
    },
    k=3,
    person="id",
    views={"mode": "auto", "linked": [["sbp", "dbp"]]},
)


def people(number: int, seed: int = 5) -> list[list[object]]:
    rng = random.Random(seed)
    return [
        [f"0{i}ü", rng.choice([rng.randrange(100), 50, ""]), rng.choice(["klein", "groß", "groß", ""]),
         rng.choice([120, 121, 95, 180, ""]), rng.choice([80, 80, ""]), rng.choice(["true", "false", ""]), ""]
        for i in range(number)
    ]  # fmt: skip


def test_of_views_few_columns_are_asked_about_and_changes_of_others_cost_nothing(tmp_path: Path) -> None:
    file, source = written(tmp_path, VIEWS, people(40))
    found = preview(PolicyFile.read(file), str(source), PreviewScale(questions=6, columns=2))
    assert found.own.columns == ("sbp", "ill")
    assert found.own.of_columns == 4
    assert found.own.untried == ()
    assert [one.name for one in found.cost.costs] == [
        "without alter", "without größe", "guard of sbp 20 -> 10", "guard of dbp 20 -> 10"
    ]  # fmt: skip


def test_inserted_views_are_left_out_and_with_them_no_range_is_wider(tmp_path: Path) -> None:
    """They take most of the time. So what is told of a policy is the least that it gives."""
    policy = VIEWS.but(views={"mode": "spanning", "spanning": [["alter"], ["größe"]], "extra": [["alter", "größe"]]})
    file, source = written(tmp_path, policy, people(60))
    read = PolicyFile.read(file)
    own = begin_preview(read, str(source), PreviewScale(questions=12)).of_policy()
    assert own.untried == (("alter", "größe"),)
    assert own.standing.share is not None
    with published_on_trial(read.policy, open_source(str(source))) as whole:
        asked = drawn(whole.questions(10**6), 12)
        more = standing(whole.figures(asked))
    assert (more.share or 0) >= own.standing.share
    assert (more.width or inf) <= (own.standing.width or inf)
    few = ["--questions", "4", "--columns", "1"]
    said = CliRunner().invoke(main, ["policy", "preview", "--policy", str(file), "--source", str(source), *few]).stdout
    assert "The additional views (alter, größe) take long to certify and are left out here." in said


def test_the_preview_names_columns_with_rare_values_and_how_to_tell_them(tmp_path: Path) -> None:
    """Nobody can print what is about three people, which the share of groups of k or more leaves out."""
    rows = [[f"p{i}", i % 90, "riesig" if i < 3 else "groß" if i % 2 else "klein"] for i in range(400)]
    policy = make_policy(
        "visits",
        {
            "id": IDENTIFIER,
            "alter": quasi("integer", (0, 99), grid=1, cuts=[50]),
            "größe": quasi("category", values=["klein", "groß"], rare="andere"),
        },
        k=10,
        person="id",
        views={"mode": "auto"},
    )
    done = previewed(tmp_path, policy, rows, "--format", "table")
    assert done.exit_code == 0, done.output
    assert "größe: 3 records without a value or with a rare one, hidden among others" in done.stdout
    assert 'with frame = ["größe"] in [views] it does not' in done.stdout
    assert "of 10 or more" in done.stdout
