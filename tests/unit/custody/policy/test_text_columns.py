"""Notes and sequences in a policy: which keys they take, what they mean for the hash, and that a version keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import NotePolicy, Policy, SequencePolicy, parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from tests.policies import IDENTIFIER, ROUGH_AGE, make_policy

BASE = make_policy("patients", {"name": IDENTIFIER, "age": ROUGH_AGE})
HASH = "41ef7ffb52d1640793cb205b62e53b9989b24e2d01ca49f96af59812a605ab2d"


def of(more: str, folder: Path = Path()) -> Policy:
    return parse_policy(BASE + more, folder=folder)


def test_silence_means_the_defaults() -> None:
    policy = of('[columns.note]\nrole = "note"\n[columns.dna]\nrole = "sequence"\n')
    assert policy.column("note").note == NotePolicy("year", "keyed", True)
    assert policy.column("dna").sequence == SequencePolicy("refined", "iupac", 0, "file")
    assert not policy.column("note").is_published
    assert any("columns.note.role" in warning for warning in policy.warnings)


def test_everything_is_read_and_kept(tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("flu;infection\nmeasles;infection\n")
    policy = of(
        '[columns.note]\nrole = "note"\ntype = "text"\ntitle = "Letter"\ndates = "shift"\ntags = "kind"\n'
        'unknown_words = false\nearliest_year = 1936\nterms = "terms.csv"\nt = 2\n'
        '[columns.dna]\nrole = "sequence"\nmethod = "bins"\nbins = 4\nlattice = "dnala"\nk = 7\nwithin = "classes"\n'
        '[columns.ssn]\nrole = "identifier"\nkind = "ssn"\n',
        tmp_path,
    )
    terms = (("flu", "infection"), ("measles", "infection"))
    assert policy.column("note").note == NotePolicy("shift", "kind", False, 1936, terms, 2)
    assert policy.column("dna").sequence == SequencePolicy("bins", "dnala", 7, "classes", 4)
    assert policy.column("ssn").kind == "ssn"
    assert read_policy(write_policy(policy)) == policy
    assert sum("columns.note.dates" in warning for warning in policy.warnings) == 1


def test_the_hash_is_that_of_what_is_meant() -> None:
    note = '[columns.note]\nrole = "note"\n'
    assert of("").hash == HASH  # as it was before there were notes
    written_out = 'dates = "year"\ntags = "keyed"\nunknown_words = true\n'
    assert of(note).hash == of(note + written_out).hash
    others = {of(note + f"{line}\n").hash for line in ('dates = "tag"', 'tags = "kind"', "earliest_year = 1936")}
    assert len({*others, of(note).hash, of("").hash}) == 5
    assert BASE.but(columns={"name": {"kind": "name"}}).parsed().hash != of("").hash


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('role = "note"\ntype = "category"', "columns.x.type: cannot be combined with role note"),
        ('role = "note"\nk = 5', "columns.x.k: does not apply to role note"),
        ('role = "note"\nt = 5', "columns.x.terms: is missing"),
        ('role = "note"\nterms = "nowhere.csv"\nt = 5', "columns.x.terms: cannot be read"),
        ('role = "note"\nterms = "terms.csv"\nt = 1', "columns.x.t: is not an accepted number"),
        ('role = "note"\nterms = "circle.csv"\nt = 5', "columns.x.terms: contains a cycle"),
        ('role = "note"\nterms = "twice.csv"\nt = 5', "columns.x.terms: gives a second parent to 1 of its terms"),
        ('role = "note"\nterms = "wide.csv"\nt = 5', "columns.x.terms: has 1 row that is not a term and its parent"),
        ('role = "note"\ndates = "month"', 'columns.x.dates: unknown choice "month"'),
        ('role = "note"\nunknown_words = "yes"', "columns.x.unknown_words: is neither true nor false"),
        ('role = "note"\nkind = "name"', "columns.x.kind: does not apply to role note"),
        ('role = "sequence"\nmethod = "cba"', "columns.x.method: is not a method for sequences"),
        ('role = "sequence"\nbins = 3', "columns.x.bins: does not apply to method refined"),
        ('role = "sequence"\nmethod = "bins"', "columns.x.bins: is missing"),
        ('role = "sequence"\nk = 1', "columns.x.k: is not an accepted number"),
        ('role = "identifier"\nkind = "nome"', '(did you mean "name"?)'),
        ('role = "sensitive"\ntype = "category"\nlattice = "iupac"', "columns.x.lattice: does not apply"),
        ('role = "codes"\nsystem = "icd9cm"\nmethod = "dnala"', "columns.x.method: does not protect"),
    ],
)
def test_what_is_wrong_is_told(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("flu;infection\n")
    (tmp_path / "circle.csv").write_text("flu;infection\ninfection;Flu\n")
    (tmp_path / "twice.csv").write_text("flu;infection\nFLU;lung disease\n")
    (tmp_path / "wide.csv").write_text("flu;infection\nflu;a;b\n")
    with pytest.raises(ConfigError) as error:
        of(f"[columns.x]\n{text}\n", tmp_path)
    assert error.value.code == "QG801"
    assert told in error.value.detail


def test_texts_count_among_the_names_that_must_differ() -> None:
    with pytest.raises(ConfigError) as error:
        of('[columns.Age]\nrole = "note"\n')
    assert "is published twice" in error.value.detail
