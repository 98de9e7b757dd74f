"""The report on a version: its figures against independent sums, its page, what it must not say, where it is kept."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.custody.pages.fill import fill
from querygate.custody.policy import parse_policy
from querygate.custody.publish_report.report import TEMPLATE
from querygate.custody.publish_report.report_fields import PublishReport
from querygate.custody.use_cases.delete_person import delete_from
from querygate.custody.use_cases.publish_version import retire_version
from querygate.custody.use_cases.publish_with_report import (
    ReportedPublication,
    find_report,
    publish_with_report,
    read_report,
)
from querygate.site.open_gate import OpenSite
from tests.engine import reading
from tests.places import ROOT
from tests.policies import AGE, IDENTIFIER, ILLNESS, SBP, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ends, new_site, staged_files, write_parquet

MARKER = "ZEBRA"
DOCUMENTED = ROOT / "docs" / "reference" / "publish-report.md"

POLICY = make_policy(
    "t",
    {
        "mrn": IDENTIFIER,
        "age": AGE,
        "sex": quasi("category", values=["F", "M"]),
        "seen": quasi("date", ("2020-01-01", "2020-12-31"), grid=1),
        "ward": ILLNESS,
        "sbp": SBP | {"bins": 10, "guard": 10},
        "cost": sensitive("number", (0, 1000), carry="hull", guard=5),
    },
    k=4,
    title="A <b>small</b> study & more",
    person="mrn",
    anonymise={"method": "mondrian"},
    republish={"on_overlap": "retire"},
)


def study(rows: int = 240, seed: int = 7) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    return {
        "mrn": [f"{MARKER}{i:05d}" for i in range(rows)],
        "note": [f"{MARKER} said so" for _ in range(rows)],  # not named in the policy
        "age": chance.integers(20, 90, rows),
        "sex": chance.choice(["F", "M"], rows),
        "seen": pa.array((np.datetime64("2020-01-01") + chance.integers(0, 360, rows)).astype("datetime64[D]")),
        "ward": chance.choice(["<script>alert(1)</script>", "heart", "lung"], rows, p=[0.1, 0.8, 0.1]),
        "sbp": pa.array(chance.normal(125, 18, rows).round().astype(int), mask=chance.random(rows) < 0.1),
        "cost": np.round(chance.exponential(90, rows), 2),
    }


def put(opened: OpenSite, columns: dict[str, Any], policy: str = POLICY, **more: Any) -> ReportedPublication:
    source = write_parquet(opened.site.folder.parent / "source.parquet", columns)
    done = publish_with_report(opened, parse_policy(policy), str(source), user="tester", **more)
    assert done.problem is None, done.problem
    return done


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenSite, ReportedPublication]:
    opened = new_site(tmp_path_factory.mktemp("report"))
    return opened, put(opened, study())


@pytest.fixture(scope="module")
def body(site: tuple[OpenSite, ReportedPublication]) -> dict[str, Any]:
    return read_report(find_report(site[0], "t", 1))


def read(opened: OpenSite, plane: str, sql: str) -> list[tuple[Any, ...]]:
    with reading(opened.site.folder / plane / "t" / "v00001.duckdb") as database:
        return database.execute(sql).fetchall()


# -- the figures -----------------------------------------------------------------------------------------------------

BOXES = "SELECT SUM(n) AS size FROM cells GROUP BY c0_lo, c0_hi, c1_set, c2_lo, c2_hi"
CLASSED = "rows JOIN row_class USING (row_id)"


def test_headline_and_risk_follow_from_the_boxes(
    site: tuple[OpenSite, ReportedPublication], body: dict[str, Any]
) -> None:
    [(classes, least, most, rows)] = read(
        site[0], "store", f"SELECT COUNT(*), MIN(size), MAX(size), SUM(size) FROM ({BOXES})"
    )
    sizes = [int(size) for (size,) in read(site[0], "store", BOXES)]
    headline, prosecutor = body["headline"], body["risk"]["prosecutor"]

    assert (headline["rows"], headline["classes"], headline["k"], headline["largest"]) == (rows, classes, least, most)
    assert headline["k_asked"] == 4 <= least
    assert prosecutor["greatest"] == 1 / least
    assert prosecutor["average"] == pytest.approx(classes / 240)
    assert [line["share"] for line in prosecutor["above"]] == pytest.approx(
        [sum(size for size in sizes if size < limit) / 240 for limit in (20, 5)]
    )
    assert body["risk"]["journalist"] is None
    assert body["risk"]["marketer"] == prosecutor["average"]
    bars = body["class_sizes"]["histogram"]
    assert [bar["classes"] for bar in bars] == [sum(b["from"] <= s <= b["to"] for s in sizes) for b in bars]
    assert sum(bar["records"] for bar in bars) == 240
    assert body["class_sizes"]["mean"] == pytest.approx(np.mean(sizes))


def test_um_counts_every_class_once(site: tuple[OpenSite, ReportedPublication], body: dict[str, Any]) -> None:
    """By SQL on the written cells: of a class, not of its records. Of NCP the same with records as weights."""
    sexes = "(SELECT set_id, count(*) AS size FROM set_value WHERE column_id = 1 GROUP BY set_id)"
    mixed = "CASE WHEN any_value(s.size) > 1 THEN any_value(s.size) / 2 ELSE 0 END"
    covered = f"((c0_hi - c0_lo) / 120 + {mixed} + (c2_hi - c2_lo) / 365) / 3 AS covered, SUM(n) AS size"
    boxes = f"SELECT {covered} FROM cells JOIN {sexes} s ON set_id = c1_set GROUP BY c0_lo, c0_hi, c1_set, c2_lo, c2_hi"
    [(um, ncp)] = read(site[0], "store", f"SELECT AVG(covered), SUM(covered * size) / SUM(size) FROM ({boxes})")
    assert body["headline"]["um"] == pytest.approx(um)
    assert body["headline"]["ncp"] == pytest.approx(ncp)
    assert um != pytest.approx(ncp)


def test_guarantees_have_what_was_asked_and_what_was_measured(body: dict[str, Any]) -> None:
    lines = {line["measure"]: line for line in body["guarantees"]}
    assert lines["records in the smallest class (k)"]["asked"] == 4
    assert lines["narrowest class of sbp (guard)"]["asked"] == 10
    assert lines["distinct published values of ward in a class (l)"]["asked"] is None
    for line in body["guarantees"]:
        assert line["asked"] is None or (line["rule"] == "at least" and line["measured"] >= line["asked"])


def test_widths_are_those_of_the_written_cells(
    site: tuple[OpenSite, ReportedPublication], body: dict[str, Any]
) -> None:
    lines = {line["column"]: line for line in body["widths"]}
    for name, index, domain in (("age", 0, 120), ("seen", 2, 365), ("cost", 5, 1000)):
        [(mean,)] = read(
            site[0], "store", f"SELECT SUM(n * (c{index}_hi - c{index}_lo)) / SUM(n) FROM cells WHERE c{index}_lo >= 0"
        )
        assert lines[name]["mean"] == pytest.approx(mean)
        assert lines[name]["share"] == pytest.approx(mean / domain)
        assert lines[name]["domain"] == domain
        low, middle, high = lines[name]["quartiles"]
        assert low <= middle <= high
    mixed = "SELECT set_id FROM set_value WHERE column_id = 1 GROUP BY set_id HAVING COUNT(*) = 2"
    [(both,)] = read(site[0], "store", f"SELECT COALESCE(SUM(n), 0) FROM cells WHERE c1_set IN ({mixed})")
    assert lines["sex"]["mean"] == pytest.approx(1 + both / 240)
    assert lines["sex"]["share"] == pytest.approx(both / 240)
    for name, loss in site[1].published.loss.items():
        assert lines[name]["share"] == pytest.approx(loss)


def test_ranges_are_those_of_the_gate_and_hold_the_truth(
    site: tuple[OpenSite, ReportedPublication], body: dict[str, Any]
) -> None:
    people = study()
    lines = {line["statistic"]: line for line in body["statistics"]}
    known = np.array([x for x in people["sbp"].to_pylist() if x is not None])
    days = people["seen"].cast(pa.int32()).to_numpy()
    truths = {"age": people["age"].mean(), "sbp": known.mean(), "cost": people["cost"].mean(), "seen": days.mean()}
    for name, truth in truths.items():
        line = lines[f"mean({name})"]
        assert line["truth"] == pytest.approx(truth)
        assert line["low"] <= truth <= line["high"]
        assert line["width"] == line["high"] - line["low"]
    assert (lines["mean(sbp)"]["low"], lines["mean(sbp)"]["high"]) == ends(site[0], "AVG(sbp)")
    wards = {line["value"]: line for line in body["counts"] if line["column"] == "ward"}
    for value in ("heart", "lung"):
        assert wards[value]["truth"] == int((people["ward"] == value).sum())
        assert (wards[value]["low"], wards[value]["high"]) == ends(site[0], "COUNT(*)", f"ward = '{value}'")
    for line in body["counts"]:
        assert line["low"] <= line["truth"] <= line["high"]


def test_ranges_are_told_of_a_dataset_called_like_a_word_of_sql(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    policy = make_policy("select", {"age": AGE, "order": quasi("category", values=["F", "M"])}, k=4)
    put(opened, {"age": study()["age"], "order": study()["sex"]}, policy, kind="json")

    counts = read_report(find_report(opened, "select", 1))["counts"]
    assert [(line["column"], line["value"]) for line in counts] == [("order", "F"), ("order", "M")]


def test_what_classes_give_away(site: tuple[OpenSite, ReportedPublication], body: dict[str, Any]) -> None:
    by_class = (
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT ward) AS l, MAX(cost) - MIN(cost) AS w FROM {CLASSED} GROUP BY class"
    )
    [(classes, records)] = read(site[0], "vault", f"SELECT COUNT(*), SUM(n) FROM ({by_class}) WHERE l = 1")
    lines = {line["column"]: line for line in body["disclosure"]}
    assert (lines["ward"]["classes"], lines["ward"]["records"]) == (classes, records)
    assert records > 0
    assert lines["ward"]["likely_records"] >= records
    assert (lines["cost"]["classes"], lines["cost"]["limit"]) == (0, 5.0)  # the guard is kept
    assert any("ward" in warning["text"] and "diversity" in warning["advice"] for warning in body["warnings"])
    values = study()["cost"]
    first, third = np.quantile(values, [0.25, 0.75])
    far = {line["column"]: line["records"] for line in body["outliers"]["far"]}
    assert far["cost"] == int(((values > third + 3 * (third - first)) | (values < first - 3 * (third - first))).sum())


def test_the_map_has_the_published_point(body: dict[str, Any]) -> None:
    points = {point["k"]: point for point in body["sweep"]["points"]}
    assert not body["sweep"]["is_sample"]
    assert list(points) == [2, 4, 8, 20, 40]
    assert points[4]["ncp"] == pytest.approx(body["headline"]["ncp"])
    assert points[4]["average"] == pytest.approx(body["risk"]["prosecutor"]["average"])
    assert points[4]["widths"]["mean(age)"] == pytest.approx(
        next(line["width"] for line in body["statistics"] if line["statistic"] == "mean(age)")
    )
    losses, risks = [p["ncp"] for p in points.values()], [p["average"] for p in points.values()]
    assert losses == sorted(losses)
    assert risks == sorted(risks, reverse=True)
    for k, point in points.items():
        assert point["greatest"] <= 1 / k


def test_a_population_brings_the_journalist(tmp_path: Path) -> None:
    opened, people = new_site(tmp_path), study()
    register = {"age": np.repeat(np.arange(0, 121), 8), "sex": np.tile(["F", "M"], 484)}
    write_parquet(tmp_path / "register.parquet", register)
    policy = POLICY.but(k_map={"population": "register.parquet", "k": 6, "columns": ["age", "sex"]})
    put(opened, people, policy, kind="json", base_dir=tmp_path)
    body = read_report(find_report(opened, "t", None))
    boxes = read(
        opened,
        "store",
        "SELECT SUM(n), c0_lo, c0_hi, (SELECT COUNT(*) FROM set_value WHERE column_id = 1 AND set_id = c1_set) "
        "FROM cells GROUP BY c0_lo, c0_hi, c1_set, c2_lo, c2_hi",
    )
    matches = [(int(n), 4 * sexes * int(high - low + 1)) for n, low, high, sexes in boxes]
    assert body["risk"]["journalist"]["greatest"] == pytest.approx(max(1 / among for _, among in matches))
    assert body["risk"]["journalist"]["average"] == pytest.approx(sum(n / among for n, among in matches) / 240)
    assert body["risk"]["marketer"] == body["risk"]["journalist"]["average"]
    [line] = [line for line in body["guarantees"] if line["measure"] == "people of the population"]
    assert (line["asked"], line["measured"]) == (6, min(among for _, among in matches))


def test_every_guarantee_that_is_measured_was_asked_for(tmp_path: Path) -> None:
    kinds = [
        {"kind": "distinct", "l": 2},
        {"kind": "entropy", "l": 1.2},
        {"kind": "recursive", "c": 30, "l": 2},
        {"kind": "alpha", "alpha": 0.97},
        {"kind": "t-closeness", "t": 0.9},
    ]
    number = [{"kind": "ke", "e": 8, "distinct": 2}, {"kind": "em", "epsilon": 1, "m": 1.1}]
    policy = POLICY.but(k=12, columns={"ward": {"diversity": kinds}, "sbp": {"diversity": number}})
    opened = new_site(tmp_path)
    done = put(opened, study(), policy, kind="json")
    lines = read_report(find_report(opened, "t", None))["guarantees"]
    asked = {line["measure"] for line in lines if line["asked"] is not None}
    assert set(done.published.measured.kept) <= asked
    assert len(done.published.measured.kept) == 8


# -- the page --------------------------------------------------------------------------------------------------------


class Strict(HTMLParser):
    """Every element is closed in turn, and nothing is fetched."""

    VOID = {"meta", "img", "br", "link", "input"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [str(value) for name, value in attrs if name in ("src", "href", "action", "srcset", "data")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_file_that_fetches_and_runs_nothing(site: tuple[OpenSite, ReportedPublication]) -> None:
    assert site[1].file is not None
    text = site[1].file.read_text(encoding="utf-8")
    page = Strict()
    page.feed(text)
    page.close()

    assert page.open == []
    assert not page.seen & {"script", "link", "iframe", "object", "form"}
    assert page.links
    assert all(link.startswith("data:image/png;base64,") for link in page.links)
    assert "http" not in text.replace("data:", "")
    assert "url(" not in text
    assert "A &lt;b&gt;small&lt;/b&gt; study &amp; more" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_pictures_are_there_and_named(site: tuple[OpenSite, ReportedPublication]) -> None:
    assert site[1].file is not None
    names = sorted(path.name for path in site[1].file.parent.iterdir())
    assert names == [
        "class_sizes.png",
        "ranges.png",
        "report.html",
        "report.json",
        "ru_map.png",
        "values.png",
        "widths.png",
    ]
    for path in site[1].file.parent.glob("*.png"):
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_without_matplotlib_the_page_says_how_to_get_pictures(body: dict[str, Any]) -> None:
    text = fill(TEMPLATE, report=body, images={}, can_draw=False)
    assert "pip install &#39;querygate[plot]&#39;" in text or "pip install 'querygate[plot]'" in text
    assert "<img" not in text


def test_nothing_that_names_a_person_is_in_it(site: tuple[OpenSite, ReportedPublication]) -> None:
    assert site[1].file is not None
    for path in site[1].file.parent.iterdir():
        assert MARKER.encode() not in path.read_bytes()


def test_figures_have_no_raw_values(body: dict[str, Any]) -> None:
    """Costs are different for nearly everybody: none of them is a figure of the report."""
    costs = {float(cost) for cost in study()["cost"]}
    found: set[float] = set()

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            [walk(each) for each in part.values()]
        elif isinstance(part, list):
            [walk(each) for each in part]
        elif isinstance(part, float):
            found.add(part)

    walk(body)
    assert not {value for value in found & costs if value > 10 and value != round(value)}


def test_every_key_is_documented(body: dict[str, Any]) -> None:
    text = DOCUMENTED.read_text(encoding="utf-8")
    assert [field.name for field in fields(PublishReport)] == list(body)
    for name, section in body.items():
        assert f"`{name}`" in text
        first = section[0] if isinstance(section, list) and section else section
        if isinstance(first, dict) and name != "policy":
            assert [key for key in first if f"`{key}`" not in text] == [], name


# -- where it is kept ------------------------------------------------------------------------------------------------


def test_it_is_closed_to_others(site: tuple[OpenSite, ReportedPublication]) -> None:
    assert site[1].file is not None
    folder = site[1].file.parent
    assert folder == site[0].site.vault / "t" / "reports" / "v00001"
    for path in (folder, folder.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


def test_the_next_one_tells_what_changed_and_a_retired_one_goes(tmp_path: Path) -> None:
    opened, people = new_site(tmp_path), study()
    put(opened, people, kind="json")
    done = put(opened, {name: values[:200] for name, values in people.items()}, POLICY.but(k=8), kind="json")
    body = read_report(find_report(opened, "t", None))

    assert done.published.versions is not None
    assert done.published.versions.retired == (1,)
    assert {path.name for path in (opened.site.vault / "t" / "reports").iterdir()} == {"v00002", "v00002.json"}
    changes = body["changes"]
    assert changes["version"] == 1
    assert changes["policy"] == [{"key": "k", "before": 4, "now": 8}]
    rows = next(line for line in changes["figures"] if line["figure"] == "rows")
    assert (rows["before"], rows["now"]) == (240, 200)
    assert body["versions"]["retired"] == [1]


def test_retiring_by_hand_and_deleting_a_person_remove_reports(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    policy = POLICY.but(republish={"on_overlap": "sticky", "few_changes": "report"})
    put(opened, study(), policy, kind="json")
    put(opened, study(), policy, kind="json")
    retire_version(opened, "t", 1, user="tester")
    reports = opened.site.vault / "t" / "reports"
    assert {path.name for path in reports.iterdir()} == {"v00002", "v00002.json"}

    delete_from(opened, parse_policy(policy), f"{MARKER}00003", user="tester")

    assert [path.name for path in reports.iterdir()] == ["v00003.json"]  # of the version without the person


def test_a_report_that_fails_leaves_the_version_serving(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    (opened.site.vault / "t").mkdir()
    (opened.site.vault / "t" / "reports").write_text("in the way")
    (tmp_path / "p.toml").write_text(POLICY)
    source = write_parquet(tmp_path / "s.parquet", study())
    words = [
        "--site",
        str(opened.site.folder),
        "publish",
        "--policy",
        str(tmp_path / "p.toml"),
        "--source",
        str(source),
    ]
    ended = CliRunner().invoke(main, [*words, "--report", "json"])

    assert ended.exit_code == 0
    assert "Warning: the version is published and served" in ended.stderr
    assert "QG900" in ended.stderr
    assert MARKER not in ended.output
    assert ends(opened, "COUNT(*)") == (240, 240)
    assert staged_files(opened) == []


def test_the_command_shows_and_copies_it(site: tuple[OpenSite, ReportedPublication], tmp_path: Path) -> None:
    folder = str(site[0].site.folder)

    def run(*words: str) -> Any:
        return CliRunner().invoke(main, ["--site", folder, "report", *words])

    assert "Look at this first" in run("t").stdout
    assert json.loads(run("t", "1", "--format", "json").stdout)["version"] == 1
    assert run("t", "--out", str(tmp_path / "copy.html")).exit_code == 0
    assert (tmp_path / "copy.html").read_text() == site[1].file.read_text() if site[1].file else False
    assert (tmp_path / "copy.html").stat().st_mode & 0o077 == 0
    assert run("t", "--out", str(tmp_path / "copy.json")).exit_code == 0
    assert json.loads((tmp_path / "copy.json").read_text())["dataset"] == "t"
    for words in (("t", "9"), ("nobody",), ("../t",)):
        ended = run(*words)
        assert ended.exit_code == 2
        assert "QG80" in ended.stderr


def test_large_tables_are_swept_on_a_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("querygate.custody.publish_report.k_sweep.MOST_RECORDS", 100)
    opened = new_site(tmp_path)
    put(opened, study(), kind="json")
    sweep = read_report(find_report(opened, "t", None))["sweep"]
    assert sweep["is_sample"]
    assert sweep["records"] == 100
    assert [point["k"] for point in sweep["points"]] == [2, 4, 8, 20, 40]
    shutil.rmtree(opened.site.vault / "t" / "reports")
    put(opened, study(), kind="json")
    assert read_report(find_report(opened, "t", None))["sweep"]["points"] == sweep["points"]  # the same rows are drawn
