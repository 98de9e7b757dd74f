"""Notes in extracts: nothing of the identifier columns is left in them, however it was written."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ExtractRefused
from querygate.custody.extract import note_columns as making
from querygate.custody.extract.identifier_forms import kind_of
from querygate.custody.extract.residue_check import count_left
from querygate.custody.policy import ColumnPolicy
from querygate.methods.notes import IdentifierKind, Scrubber
from querygate.methods.notes.natural.made_up_person import _Met
from querygate.methods.notes.natural.names import NaturalNames
from querygate.methods.notes.scrub import ScrubbedNote
from tests.unit.custody.extract.study import extract
from tests.unit.custody.extract.texts_study import POLICY, people

WISH: dict[str, Any] = {"columns": ["age", "sbp", "note"], "method": "mondrian"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("notes")
    return folder / "out", extract(
        folder, table=people(), policy=POLICY, where="age < 75", formats=["csv", "parquet", "stata"], **WISH
    )


def leaving(folder: Path) -> dict[int, str | None]:
    table = pq.read_table(folder / "extract.parquet")
    return dict(zip(table["sbp"].to_pylist(), table["note"].to_pylist(), strict=True))


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def test_no_identifier_is_left_in_any_spelling(made: tuple[Path, Any]) -> None:
    folder, body = made
    raw = people().to_pylist()
    notes = leaving(folder)
    assert 0 < len(notes) < len(raw)  # others were not selected; their names go as well
    months = re.compile(r"\b(January|February|March|April|May|June|July|August)\b")
    for record in raw:
        text = notes.get(record["sbp"])
        if text is None:
            continue
        for name in ("last_name", "mrn", "phone", "born"):
            assert letters(record[name]) not in letters(text), (name, text)
        assert record["first_name"].split("-")[0] not in text
        assert not re.search(r"\d{5}", text)
        assert not months.search(text)
        assert "iabetes" in text
    for record in raw:
        whole = letters(record["first_name"] + record["last_name"])
        assert not any(record["mrn"] in letters(text) or whole in letters(text) for text in notes.values() if text)
    [report] = body["notes"]
    assert report["searched"] == {
        "first_name": "NAME", "last_name": "NAME", "mrn": "RECORD", "phone": "PHONE", "born": "DATE"
    }  # fmt: skip
    assert report["left"] == 0
    assert report["touched"] == report["notes"] == sum(text is not None for text in notes.values())
    assert report["nothing_found"] == 0
    assert sum(report["kinds"].values()) == sum(report["rules"].values()) == report["spans"]
    assert {"NAME", "RECORD", "DATE"} <= set(report["kinds"])


def test_a_missing_note_stays_missing(made: tuple[Path, Any]) -> None:
    folder, body = made
    notes = leaving(folder)
    missing = {r["sbp"] for r in people().to_pylist() if r["note"] is None}
    assert {sbp for sbp, text in notes.items() if text is None} == missing & set(notes)
    assert body["notes"][0]["missing"] == len(missing & set(notes)) > 0


def test_the_same_person_has_the_same_tag_in_one_extract(made: tuple[Path, Any]) -> None:
    notes = leaving(made[0])
    raw = {r["sbp"]: r for r in people().to_pylist()}
    tags: dict[str, set[str]] = {}
    for sbp, text in notes.items():
        if text is not None and sbp % 4 == 2:  # the record's number stands in its own note, and in the next one's
            tags.setdefault(raw[sbp]["mrn"], set()).add(re.findall(r"\[RECORD:(\w+)\]", text)[0])
            after = notes.get(sbp + 1)
            if after is not None:
                tags[raw[sbp]["mrn"]].add(re.findall(r"\[RECORD:(\w+)\]", after)[-1])
    assert tags
    assert all(len(found) == 1 for found in tags.values())


def test_nothing_raw_stands_in_the_files(made: tuple[Path, Any]) -> None:
    folder, _ = made
    words = {"Quackenbush", "Wojciechowska", "Okonkwo", "Lindqvist", "Ngozi", "Rosalind"}
    numbers = {record["mrn"] for record in people().to_pylist()}
    for path in folder.iterdir():
        content = path.read_bytes().decode("utf-8", "ignore")
        assert not [word for word in words | numbers if word in content], path.name
    page = (folder / "report.html").read_text()
    assert "Free text: note" in page
    assert "iabetes" not in page
    dictionary = (folder / "dictionary.csv").read_text()
    assert "Discharge letter" in dictionary
    assert "[NAME:letters]" in dictionary


def test_stata_has_the_texts(made: tuple[Path, Any]) -> None:
    pandas = pytest.importorskip("pandas")
    found = pandas.read_stata(made[0] / "extract.dta")
    told = {int(sbp): note or None for sbp, note in zip(found["sbp"], found["note"], strict=True)}
    assert told == leaving(made[0])


def test_records_are_in_an_order_of_their_own(made: tuple[Path, Any]) -> None:
    order = pq.read_table(made[0] / "extract.parquet").select(["age_low", "sbp"]).to_pylist()
    assert order != sorted(order, key=lambda row: (row["age_low"], row["sbp"]))
    assert Counter(row["age_low"] for row in order).most_common()[-1][1] >= 5


def test_notes_leave_where_they_are_named_alone(tmp_path: Path) -> None:
    body = extract(tmp_path / "a", table=people(40), policy=POLICY, method="mondrian")
    assert body["columns"] == ["age_low", "age_high", "sbp"]
    assert body["notes"] == body["sequences"] == []
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path / "b", table=people(40), policy=POLICY, kind="condensed", k=10, columns=["age", "note"])
    assert refused.value.code == "QG604"
    assert "synthetic records have none" in refused.value.detail
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path / "c", table=people(40), policy=POLICY, columns=["age", "mrn"])
    assert refused.value.code == "QG604"


def test_days_move_together_and_years_before_the_earliest_go(tmp_path: Path) -> None:
    table = people(20).set_column(
        7, "note", pa.array([f"Admitted 2015-03-0{1 + i % 5}, home 2015-03-1{i % 5}; born 1921." for i in range(20)])
    )
    policy = POLICY.but(columns={"note": {"dates": "shift", "earliest_year": 1930}})
    extract(tmp_path, table=table, policy=policy, **WISH)
    moved = [re.findall(r"\d{4}-\d\d-\d\d", text or "") for text in leaving(tmp_path / "out").values()]
    stays = {(pa.scalar(b).cast(pa.date32()).as_py() - pa.scalar(a).cast(pa.date32()).as_py()).days for a, b in moved}
    assert stays == {9}
    assert len({a for a, _ in moved}) > 5
    assert not any("1921" in (text or "") for text in leaving(tmp_path / "out").values())


def test_terms_are_as_general_as_t_needs(tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("diabetes;hormone disease\ngoitre;hormone disease\nhormone disease;disease\n")
    policy = POLICY.but(columns={"note": {"terms": "terms.csv", "t": 2}})
    from querygate.core.extracts.extract_spec import ExtractSpec
    from querygate.custody.policy import parse_policy
    from querygate.custody.use_cases.extract_builder import make_extract
    from querygate_adapters.sources.open_source import open_source

    pq.write_table(people(24), tmp_path / "p.parquet")
    out = tmp_path / "out"
    out.mkdir()
    wish = ExtractSpec.of({"dataset": "trial", "purpose": "to see", **WISH})
    source = open_source(str(tmp_path / "p.parquet"))
    body = make_extract(parse_policy(policy, folder=tmp_path), source, wish, out, secret=b"s")
    texts = [text for text in leaving(out).values() if text]
    assert all("hormone disease" in text and "iabetes" not in text for text in texts)
    assert body["notes"][0]["generalised"] == len(texts)
    assert body["notes"][0]["withheld"] == 0


NATURAL = POLICY.but(columns={"note": {"tags": "natural", "dates": "shift"}})


def test_replacements_read_naturally_and_nothing_is_left(tmp_path: Path) -> None:
    body = extract(tmp_path, table=people(40), policy=NATURAL, **WISH)
    raw = {record["sbp"]: record for record in people(40).to_pylist()}
    notes = {sbp: text for sbp, text in leaving(tmp_path / "out").items() if text is not None}
    assert notes
    for sbp, text in notes.items():
        assert "[" not in text
        assert "iabetes" in text
        for name in ("last_name", "mrn", "phone", "born"):
            assert letters(raw[sbp][name]) not in letters(text), (name, text)
    numbers = [re.findall(r"(?<![\d-])\d{8}(?!\d)|\d{4}-\d{4}", text) for text in notes.values()]
    assert all(numbers)  # record numbers of eight digits are still that
    [report] = body["notes"]
    assert report["left"] == 0
    assert any("cannot be told from one that was made up" in words for words in report["words"])
    assert "made up" in (tmp_path / "out" / "dictionary.csv").read_text()


def test_a_replacement_that_is_what_it_replaces_refuses_the_extract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of somebody met, whom no column has: the check of columns alone would not see it."""
    monkeypatch.setattr(NaturalNames, "of", lambda self, found, titled, attempt: found)
    monkeypatch.setattr(_Met, "has", lambda self, made, kind: False)
    table = people(16).set_column(7, "note", pa.array(["Seen by Dr. Wells."] * 16))
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path, table=table, policy=NATURAL, **WISH)
    assert refused.value.code == "QG605"
    assert "16 replacements are what was to be replaced" in refused.value.detail
    assert "Wells" not in str(refused.value)
    assert not list((tmp_path / "out").iterdir())


# -- the check that nothing is left --------------------------------------------------------------------------------


def test_what_is_left_refuses_the_extract_and_says_how_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scrubber, "scrub", lambda self, text, record=None, person=None: ScrubbedNote(text, (), ()))
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path, table=people(24), policy=POLICY, **WISH)
    assert refused.value.code == "QG605"
    assert "21 those of their own record" in refused.value.detail
    assert not any(word in str(refused.value) for word in ("Okonkwo", "García", "Zofia"))
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("note", "own", "anybody"),
    [
        ("nothing here", 0, 0),
        ("JANE-DOE came", 1, 1),
        ("doe, jane", 1, 1),
        ("Mr. Doe", 1, 0),
        ("Tom Garcia called", 0, 1),
        ("TOM  GARCÍA", 0, 1),
        ("Tom alone", 0, 0),
        ("number 0011/2233", 1, 1),
        ("number 99 88-77 66", 0, 1),
        ("number 0998877661", 0, 0),  # another number
        (None, 0, 0),
    ],
)
def test_what_counts_as_left(note: str | None, own: int, anybody: int) -> None:
    everybody = {"first": ["Jane", "Tom"], "last": ["Doe", "García"], "mrn": ["00112233", "99887766"]}
    mine = {name: values[:1] for name, values in everybody.items()}
    found = count_left([note], mine, everybody, {"first": "NAME", "last": "NAME", "mrn": "RECORD"})
    assert (found.own, found.anybody) == (own, anybody)


def test_long_texts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "LONGEST", 50)
    with pytest.raises(ExtractRefused, match="more than 50 characters"):
        extract(tmp_path, table=people(16), policy=POLICY, **WISH)


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("patientLastName", ["x1"], IdentifierKind.NAME),
        ("DOB", ["1980-05-03"], IdentifierKind.DATE),
        ("birth_place", ["Oslo"], IdentifierKind.PLACE),
        ("home_phone", ["1"], IdentifierKind.PHONE),
        ("fax", ["1"], IdentifierKind.FAX),
        ("insurance_no", ["1"], IdentifierKind.PLAN),
        ("plate", ["B-XY 1"], IdentifierKind.VEHICLE),
        ("city", ["Oslo"], IdentifierKind.PLACE),
        ("x", ["ann@example.org"], IdentifierKind.EMAIL),
        ("x", ["Ann Lee", "Bo Ek"], IdentifierKind.NAME),
        ("x", ["a1", "b2"], IdentifierKind.RECORD),
        ("x", [], IdentifierKind.OTHER),
    ],
)
def test_what_an_identifier_column_is_taken_for(name: str, values: list[str | None], kind: IdentifierKind) -> None:
    assert kind_of(ColumnPolicy(name, "identifier"), values) is kind
    assert kind_of(ColumnPolicy(name, "identifier", kind="url"), values) is IdentifierKind.URL
