"""A learned tagger: what it learns from, what it keeps, that it adds to the rules, and bad files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.note_tagger.labelled_notes import read_labelled
from querygate.custody.note_tagger.tagger_recall import measure_recall
from querygate.custody.note_tagger.trained_tagger import TrainedTagger, train
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.extract_builder import make_extract
from querygate.methods.notes import IdentifierKind, Scrubber, ScrubOptions
from querygate.methods.notes.spans import TextSpan
from querygate.methods.notes.tagger import LabelledNote, generated_notes, labels_of, spans_of_labels, tokens_of
from querygate_adapters.sources.open_source import open_source
from tests.unit.custody.extract.test_notes import WISH, leaving
from tests.unit.custody.extract.texts_study import POLICY, people
from tests.unit.methods.notes.test_finders import HOSTILE

HELD_OUT = [
    ("Consulted zylberstajn about the stoma.", "zylberstajn"),
    ("Pager for Okwuosa is on the board.", "Okwuosa"),
]


@pytest.fixture(scope="module")
def content() -> bytes:
    """Made-up notes, and some of a house where surgeons are written in small letters after *consulted*."""
    house = [
        LabelledNote(f"Consulted {name} about the {what}.", ((10, 10 + len(name), IdentifierKind.NAME),))
        for name in ("mbeki", "varga", "hosokawa", "tenev", "ostrowsky", "quispe", "ferreira", "ngata")
        for what in ("hernia", "wound", "drain", "graft")
    ]
    return train([*house, *generated_notes(200, random.Random(2))])


@pytest.fixture(scope="module")
def tagger(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> TrainedTagger:
    path = tmp_path_factory.mktemp("tagger") / "notes.tagger"
    path.write_bytes(content)
    return TrainedTagger.read(path)


def test_labels_and_spans_are_each_others_inverse() -> None:
    for note in generated_notes(200, random.Random(3)):
        found = []
        for tokens in tokens_of(note.text):
            assert all(note.text[one.start : one.end] == one.text for one in tokens)
            found += list(spans_of_labels(tokens, labels_of(tokens, note)))
        assert [(span.start, span.end, span.kind) for span in found] == list(note.marked)


def test_what_the_house_writes_is_learned_and_rules_do_not_find_it(tagger: TrainedTagger) -> None:
    text, name = HELD_OUT[0]
    assert name in Scrubber(bytes(16)).scrub(text).text
    scrubber = Scrubber(bytes(16), options=ScrubOptions(tags="kind"), learned=tagger)
    assert scrubber.scrub(text).text == "Consulted [NAME] about the stoma."


def test_nothing_that_rules_find_is_given_back(tagger: TrainedTagger) -> None:
    """The union: whatever the tagger says, every letter that the rules cover stays covered."""
    rules, both = Scrubber(bytes(16)), Scrubber(bytes(16), learned=tagger)
    for note in generated_notes(60, random.Random(4)):
        one = {at for span in rules.find(note.text) for at in range(span.start, span.end) if note.text[at].isalnum()}
        other = {at for span in both.find(note.text) for at in range(span.start, span.end)}
        assert one <= other
    found = measure_recall(generated_notes(60, random.Random(5)), tagger)
    assert all(kind.both >= max(kind.rules, kind.learned) for kind in found.kinds)
    assert sum(kind.both for kind in found.kinds) > sum(kind.rules for kind in found.kinds)


def test_no_name_is_kept_in_the_file(content: bytes) -> None:
    for name in (b"mbeki", b"hosokawa", b"ostrowsky", b"quispe", b"ferreira"):
        assert name not in content
    assert b"consulted" in content


def test_the_same_notes_make_the_same_file() -> None:
    assert train(generated_notes(20, random.Random(1))) == train(generated_notes(20, random.Random(1)))


def test_any_text_is_read(tagger: TrainedTagger) -> None:
    for text in (*(text[:4_000] for text in HOSTILE.values()), "", "\0", "田中", "\ud7ff" * 9, "\n\n\n", "ß" * 500):
        for span in tagger(text):
            assert 0 <= span.start < span.end <= len(text)
            assert isinstance(span, TextSpan)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"text": "x"}',
        '{"text": 7, "spans": []}',
        '{"text": "Jane Doe", "spans": [{"start": 0, "end": 99, "kind": "name"}]}',
        '{"text": "Jane Doe", "spans": [{"start": 4, "end": 4, "kind": "name"}]}',
        '{"text": "Jane Doe", "spans": [{"start": -1, "end": 4, "kind": "name"}]}',
        '{"text": "Jane Doe", "spans": [{"start": true, "end": 4, "kind": "name"}]}',
        '{"text": "Jane Doe", "spans": [{"start": 0, "end": 4, "kind": "person"}]}',
        '{"text": "Jane", "spans": [{"start": 0, "end": 3, "kind": "name"}, {"start": 2, "end": 4, "kind": "url"}]}',
        '{"text": "Jane Doe", "spans": {"start": 0}}',
        "[" * 5000,
    ],
)
def test_bad_lines_are_refused_without_their_text(line: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(f'{{"text": "fine", "spans": []}}\n{line}\n')
    with pytest.raises(ConfigError, match="Line 2 of") as refused:
        read_labelled(path)
    assert refused.value.code == "QG806"
    assert "Jane" not in refused.value.detail


def test_bad_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.tagger"
    for wrong in (b"", b"lCRF", content[:-1], content[:200], content.replace(b"tagger 1", b"tagger 2"), b"\0" * 999):
        path.write_bytes(wrong)
        with pytest.raises(ConfigError, match="not a tagger") as refused:
            TrainedTagger.read(path)
        assert refused.value.code == "QG806"
    with pytest.raises(ConfigError, match="cannot be read"):
        TrainedTagger.read(tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_labelled(tmp_path / "latin")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ConfigError, match="has no note"):
        read_labelled(tmp_path / "empty")
    with pytest.raises(ConfigError, match="nothing can be learned"):
        train([LabelledNote("fine", ())])


# -- in an extract ---------------------------------------------------------------------------------------------------


def test_an_extract_uses_the_tagger_of_its_policy(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "notes.tagger").write_bytes(content)
    table = people(16).set_column(7, "note", pa.array([HELD_OUT[0][0]] * 16))
    text = POLICY.but(columns={"note": {"tagger": "notes.tagger"}})
    plain, learned = parse_policy(POLICY), parse_policy(text, folder=tmp_path)
    pq.write_table(table, tmp_path / "p.parquet")

    def made(name: str) -> dict[str, Any]:
        (tmp_path / name).mkdir()
        wish = ExtractSpec.of({"dataset": "trial", "purpose": "to see", **WISH})
        source = open_source(str(tmp_path / "p.parquet"))
        return make_extract(learned, source, wish, tmp_path / name, secret=b"s", base_dir=tmp_path)

    assert made("out")["notes"][0]["rules"]["learned"] > 0
    assert not any("zylberstajn" in (note or "") for note in leaving(tmp_path / "out").values())
    assert plain.hash != learned.hash
    (tmp_path / "notes.tagger").write_bytes(content + b" ")
    assert parse_policy(text, folder=tmp_path).hash != learned.hash
    with pytest.raises(ExtractRefused, match="was changed"):
        made("changed")
    assert not list((tmp_path / "changed").iterdir())
    (tmp_path / "notes.tagger").unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        parse_policy(text, folder=tmp_path)
    with pytest.raises(ConfigError, match="is not a file"):
        parse_policy(POLICY.but(columns={"note": {"tagger": 7}}))


# -- from the command line -------------------------------------------------------------------------------------------


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    return done.exit_code, done.output


def test_train_and_measure(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    with own.open("w") as file:
        for note in generated_notes(40, random.Random(6)):
            spans = [{"start": start, "end": end, "kind": kind.lower()} for start, end, kind in note.marked]
            file.write(json.dumps({"text": note.text, "spans": spans}) + "\n")
    out = tmp_path / "notes.tagger"
    code, told = run("notes", "train", "--notes", own, "--generated", 60, "--out", out)
    assert (code, told.removeprefix("learning\n")) == (
        0,
        f"Learned from 40 notes of yours and 60 made-up notes. Wrote {out}.\n",
    )
    assert out.stat().st_mode & 0o077 == 0
    code, told = run("notes", "measure", "--tagger", out, "--notes", own)
    assert code == 0
    assert told.startswith(
        "40 notes. Removed to the last letter:\nkind        marked     rules    tagger      both\nname"
    )
    code, told = run("notes", "measure", "--tagger", out, "--notes", own, "--format", "json")
    assert json.loads(told)["notes"] == 40
    before = out.read_bytes()
    assert run("notes", "train", "--out", out)[0] == 2
    assert out.read_bytes() == before
    code, told = run("notes", "train", "--generated", 0, "--out", tmp_path / "none")
    assert "QG806" in told
    assert not (tmp_path / "none").exists()
    assert "QG806" in run("notes", "measure", "--tagger", own, "--notes", own)[1]
