"""`querygate codes`: hierarchies of other systems as files that a policy takes, and where a code belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querygate.custody.policy.hierarchy_rules import fault_of, read_rows

HEAD = "id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\n"
SNOMED = HEAD + "".join(
    f"1\t20260101\t{active}\t9\t{child}\t{parent}\t0\t{kind}\n"
    for child, parent, active, kind in [
        ("195967001", "50043002", 1, "116680003"),
        ("50043002", "64572001", 1, "116680003"),
        ("195967001", "404684003", 1, "116680003"),  # a second place, nearer to the top
        ("195967001", "999", 0, "116680003"),  # no longer
        ("195967001", "888", 1, "363698007"),  # another relationship
    ]
)
FILES = {
    "atc": ("A10BA02\n a10bb01 ,metformin\n\nC07\n", "A10BA02;A10BA;A10B;A10;A;*"),
    "opcs": ("W37.1\nw372\nW37\n", "W37.1;W37;W;*"),
    "pairs": ("Ä;B\nB;C\n", "Ä;B;C;*"),
    "snomed": (SNOMED, "195967001;50043002;64572001;*"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_system_becomes_a_file_that_a_policy_takes(kind: str, run: Any, tmp_path: Path) -> None:
    text, line = FILES[kind]
    (tmp_path / "in.txt").write_text(text)
    out = tmp_path / "out.csv"
    done = run("codes", "import", "--kind", kind, tmp_path / "in.txt", "--out", out)
    assert done.exit_code == 0, done.output
    assert line in out.read_text().splitlines()
    assert fault_of(read_rows(out)) == ""
    assert ("1 code stands under several groups" in done.output) == (kind == "snomed")
    again = run("codes", "import", "--kind", kind, tmp_path / "in.txt", "--out", out)
    assert (again.exit_code, "cannot be written" in again.output) == (2, True)


BAD = {
    "no code of it": ("atc", "A10BA02\nhello\n", "1 of its codes are not spelt as in the system"),
    "empty": ("opcs", "\n", "has no codes"),
    "circle": ("pairs", "a;b\nb;a\n", "2 of its codes stand, in the end, above themselves"),
    "three": ("pairs", "a;b;c\n", "has rows that are not a code and the group above it"),
    "other table": ("snomed", "a\tb\n1\t2\n", "is not a snapshot of relationships"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_none_is_refused_and_nothing_written(name: str, run: Any, tmp_path: Path) -> None:
    kind, text, told = BAD[name]
    (tmp_path / "in.txt").write_text(text)
    done = run("codes", "import", "--kind", kind, tmp_path / "in.txt", "--out", tmp_path / "out.csv")
    assert done.exit_code == 2
    assert "QG802" in done.output
    assert told in done.output
    assert "hello" not in done.output
    assert not (tmp_path / "out.csv").exists()


def test_wanted_codes_alone_are_kept(run: Any, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(SNOMED)
    (tmp_path / "used.csv").write_text("50043002\n")
    words = ("codes", "import", "--kind", "snomed", tmp_path / "in.txt", "--codes")
    run(*words, tmp_path / "used.csv", "--out", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "50043002;64572001;*\n"
    missing = run(*words, tmp_path / "none.csv", "--out", tmp_path / "none-out.csv")
    assert (missing.exit_code, "QG802" in missing.output) == (2, True)


def test_the_groups_of_a_code(run: Any) -> None:
    done = run("codes", "show", "--system", "icd9cm", "v103")
    assert done.output == "V10.3 < V10 < V01-V91 < *\nICD-10-CM: Z85.3 (exact)\n"
    assert "QG806" in run("codes", "show", "--system", "icd10cm", "nothing").output
