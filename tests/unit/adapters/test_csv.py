"""Delimited text: what is read, and that what cannot be read is refused by line and never quoted."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate_adapters.sources.open_source import open_source
from tests.unit.adapters.loaded_rows import texts

ROWS = [("1", "Anna"), ("2", "Bo, C"), ("3", None)]


def written(folder: Path, content: str | bytes, name: str = "source.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('id,name\n1,Anna\n2,"Bo, C"\n3,\n', "comma.csv"),
        ("id;name\n1;Anna\n2;Bo, C\n3;\n", "semicolon.csv"),
        ("id\tname\n1\tAnna\n2\tBo, C\n3\t\n", "tab.tsv"),
        ("id|name\n1|Anna\n2|Bo, C\n3|\n", "bar.txt"),
        ('id,name\r\n1,Anna\r\n2,"Bo, C"\r\n3,\r\n', "crlf.csv"),
        ('id,name\r1,Anna\r2,"Bo, C"\r3,\r', "cr.csv"),
        ('id,name\n1,Anna\n2,"Bo, C"\n3,', "no_newline_at_the_end.csv"),
        ('"id","name"\n"1","Anna"\n"2","Bo, C"\n"3",""\n', "all_quoted.csv"),
        ('\ufeffid,name\n1,Anna\n2,"Bo, C"\n3,\n', "byte_order_mark.csv"),
        ('id,name\n\n1,Anna\n2,"Bo, C"\n\n3,\n', "blank_lines.csv"),
        ('ID,name\n1,Anna\n2,"Bo, C"\n3,\n', "UPPER.CSV"),
    ],
    ids=lambda value: value if value.endswith((".csv", ".tsv", ".txt", ".CSV")) else "",
)
def test_delimited_text(tmp_path: Path, content: str, name: str) -> None:
    source = written(tmp_path, content, name)
    first = "ID" if name == "UPPER.CSV" else "id"

    assert open_source(str(source)).columns() == (first, "name")
    assert texts(tmp_path, source, first, "name") == ROWS


def test_gzip(tmp_path: Path) -> None:
    source = written(tmp_path, gzip.compress(b'id,name\n1,Anna\n2,"Bo, C"\n3,\n'), "source.csv.gz")

    assert texts(tmp_path, source, "id", "name") == ROWS


def test_values_come_through_as_they_are(tmp_path: Path) -> None:
    odd = [
        'say "hi"',
        "two\nlines",
        "-",
        " space ",
        "=1+1",
        "é漢🙂",
        "NULL",
        "nan",
        "\\N",
        "'; DROP TABLE rows; --",
        "a\x00b",
    ]
    quoted = ['"' + value.replace('"', '""') + '"' for value in odd]
    source = written(tmp_path, "id,v\n" + "".join(f"{i},{value}\n" for i, value in enumerate(quoted)))

    assert texts(tmp_path, source, "v") == [(value,) for value in odd]


def test_columns_are_chosen_by_name_and_in_any_order(tmp_path: Path) -> None:
    source = written(tmp_path, "a,b,c\n1,2,3\n")

    assert texts(tmp_path, source, "c", "a") == [("3", "1")]


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    assert texts(tmp_path, written(tmp_path, "id,name\n"), "id", "name") == []


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    numbers = [str(i) for i in range(30_000)]
    source = written(tmp_path, "id\n" + "\n".join(numbers) + "\n")

    assert texts(tmp_path, source, "id") == [(number,) for number in numbers]


# -- refused -------------------------------------------------------------------------------------------------------

LONG = "".join(f"{i},x\n" for i in range(5_000))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("id,name\n1,Anna\nSECRET,2,3\n3,x\n", 3),
        ("id,name\n1,Anna\nSECRET\n3,x\n", 3),
        ('id,name\n1,Anna\n2,"SECRET\n3,x\n', 3),
        ('id,name\n1,Anna\n2,"SEC"RET\n3,x\n', 3),
        ("id,name\n1,Anna\nSECRET Line: 99,2,3\n3,x\n", 3),
        ("id,name\n1,x\n2," + "SECRET" * 500_000 + "\n", 3),
    ],
    ids=["too many", "too few", "open quote", "text after quote", "a line that speaks of lines", "too long"],
)
def test_a_row_that_cannot_be_read_is_named_by_line_and_not_quoted(
    tmp_path: Path, content: str | bytes, line: int
) -> None:
    with pytest.raises(ConfigError) as refused:
        texts(tmp_path, written(tmp_path, content), "id", "name")

    assert refused.value.code == "QG802"
    assert refused.value.detail == f"source.csv, line {line}: the row cannot be read."
    assert "SECRET" not in str(refused.value.to_dict())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n1,2\n",
        "id,\n1,2\n",
        "id,id\n1,2\n",
        "id,ID\n1,2\n",
        "id, \n1,2\n",
        "id,né\n1,2\n".encode("latin-1"),
        "id,name\n1,2\n".encode("utf-16"),
        b"\x00\x01\x02\x03",
    ],
    ids=["empty", "blank", "no name", "twice", "twice but for case", "space", "latin-1", "utf-16", "not text"],
)
def test_a_header_that_does_not_name_each_column_once(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(ConfigError) as refused:
        texts(tmp_path, written(tmp_path, content), "id")

    assert refused.value.code == "QG802"


def test_row_names_without_a_name_are_a_column(tmp_path: Path) -> None:
    """As R and pandas write them. Nothing else may be without a name, and no name is taken away."""
    file = written(tmp_path, '"","id"\n"1",x\n"2",y\n')
    assert open_source(str(file)).columns() == ("row_names", "id")
    for header in (",row_names", ",Row_Names", ",", ",id,"):
        with pytest.raises(ConfigError):
            open_source(str(written(tmp_path, f"{header}\n1,2\n"))).columns()


def test_what_is_not_gzip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        open_source(str(written(tmp_path, "id,name\n1,SECRET\n", "source.csv.gz")))

    assert refused.value.code == "QG802"
    assert "SECRET" not in refused.value.detail


@pytest.mark.parametrize("line", [1, 2, 30_000])
@pytest.mark.parametrize("name", ["source.csv", "source.csv.gz"])
def test_another_encoding_is_named_with_the_line_and_how_to_convert(tmp_path: Path, line: int, name: str) -> None:
    lines = [b"id,name", *(b"%d,Anna" % i for i in range(30_000))]
    lines[line - 1] = b"id,gr\xf6\xdfe" if line == 1 else b"7,M\xfcller"
    content = b"\n".join(lines) + b"\n"
    source = written(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)

    with pytest.raises(ConfigError) as refused:
        texts(tmp_path, source, "id", "name")
    assert refused.value.code == "QG802"
    assert refused.value.detail == (f"{name}, line {line}: the text is not UTF-8 (perhaps Latin-1 or Windows-1252).")
    assert "iconv -f WINDOWS-1252 -t UTF-8" in refused.value.remedy
    assert "ller" not in refused.value.detail + refused.value.remedy


def test_the_advice_on_another_encoding_works(tmp_path: Path) -> None:
    source = written(tmp_path, "id,name\n1,Müller €\n".encode("cp1252"))
    with pytest.raises(ConfigError) as refused:
        open_source(str(source))
    command = refused.value.remedy.partition(": ")[2].replace("old.csv", source.name)
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)

    assert texts(tmp_path, tmp_path / "new.csv", "id", "name") == [("1", "Müller €")]


def test_utf_16_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"line 1: the text is not UTF-8 \(UTF-16\)"):
        open_source(str(written(tmp_path, "id,name\n1,Anna\n".encode("utf-16"))))


@pytest.mark.parametrize(
    "content", [b"id,name\n1,Anna\n", gzip.compress(b"id,name\n1,Anna\n")[:-9]], ids=["plain", "cut"]
)
def test_what_is_not_compressed_or_cut_off(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ConfigError) as refused:
        texts(tmp_path, written(tmp_path, content, "odd.csv.gz"), "id", "name")
    assert refused.value.detail == "odd.csv.gz: the content does not match the file extension."
