"""Errors never carry raw values: a secret stands wherever a reader can stumble, and is found in nothing it says."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path

import duckdb
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.use_cases.publish_version import publish_to
from querygate_adapters.sources.files import CsvFile
from tests.policies import ROUGH_AGE, make_policy, public, quasi, sensitive
from tests.unit.custody.publish.publications import new_site

SECRET = "SECRET-4711"
NUMBER = "4711"
POLICY = make_policy(
    "t",
    {
        "age": ROUGH_AGE,
        "place": quasi("category", values=["a", "b"]),
        "seen": public("date"),
        "alive": public("boolean"),
        "dose": sensitive("number", (0.0, 10.0)),
    },
    k=2,
)
HEADER = "age,place,seen,alive,dose\n"
GOOD = "50,a,2020-01-01,true,1.5\n" * 5

BAD = {
    "too many fields": GOOD + f"50,a,2020-01-01,true,1.5,{SECRET}\n" + GOOD,
    "too few fields": GOOD + f"50,{SECRET}\n" + GOOD,
    "open quote": GOOD + f'50,"{SECRET},2020-01-01,true,1.5\n' + GOOD,
    "text after a quote": GOOD + f'50,"a"{SECRET},2020-01-01,true,1.5\n' + GOOD,
    "not an integer": GOOD + f"{SECRET},a,2020-01-01,true,1.5\n",
    "a fraction": GOOD + f"{NUMBER}.5,a,2020-01-01,true,1.5\n",
    "an integer outside the domain": GOOD + f"{NUMBER},a,2020-01-01,true,1.5\n",
    "an integer beyond 64 bits": GOOD + f"{NUMBER * 10},a,2020-01-01,true,1.5\n",
    "an unknown category": GOOD + f"50,{SECRET},2020-01-01,true,1.5\n",
    "not a date": GOOD + f"50,a,{SECRET},true,1.5\n",
    "not a day": GOOD + f"50,a,{NUMBER}-02-30,true,1.5\n",
    "not a boolean": GOOD + f"50,a,2020-01-01,{SECRET},1.5\n",
    "not a number": GOOD + f"50,a,2020-01-01,true,{SECRET}\n",
    "a number outside the domain": GOOD + f"50,a,2020-01-01,true,{NUMBER}\n",
    "an infinite number": GOOD + "50,a,2020-01-01,true,inf\n",
}
ENCODED = {
    "latin-1": HEADER.encode() + GOOD.encode() * 2000 + f"50,{SECRET}é,2020-01-01,true,1.5\n".encode("latin-1"),
    "utf-16": (HEADER + GOOD + f"50,{SECRET},2020-01-01,true,1.5\n").encode("utf-16"),
    "broken bytes": HEADER.encode() + GOOD.encode() + b"50,\xff\xfe" + SECRET.encode() + b",2020-01-01,true,1.5\n",
    "a secret for a header": f"{SECRET},{SECRET}\n1,2\n".encode(),
}


@pytest.mark.parametrize(
    "content", [*((HEADER + text).encode() for text in BAD.values()), *ENCODED.values()], ids=[*BAD, *ENCODED]
)
def test_a_secret_in_a_bad_place_stays_there(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    opened = new_site(tmp_path)
    source = tmp_path / "source.csv"
    source.write_bytes(content)
    with caplog.at_level(logging.DEBUG), pytest.raises(ConfigError) as refused:
        publish_to(opened, POLICY.parsed(), str(source), user="tester")

    error = refused.value
    assert error.code == "QG802"
    printed = capfd.readouterr()
    told = {
        "the error": str(error) + repr(error) + json.dumps(error.to_dict()),
        "its traceback": "".join(traceback.format_exception(error)).replace(str(tmp_path), ""),
        "the log": "".join(json.dumps(event) for event in opened.log.events()),
        "the records": caplog.text,
        "the terminal": printed.out + printed.err,
    }
    assert [where for where, text in told.items() if NUMBER in text] == []
    assert opened.store.datasets() == ()


@pytest.mark.parametrize("kind", ["integer", "number", "date", "boolean"])
def test_nor_does_a_secret_leave_a_database(tmp_path: Path, kind: str) -> None:
    with duckdb.connect(str(tmp_path / "h.duckdb")) as database:
        database.execute("CREATE TABLE p (age INTEGER, place VARCHAR)")
        database.execute("INSERT INTO p VALUES (1, 'x'), (2, ?), (3, ?)", [SECRET, SECRET])
    opened = new_site(tmp_path)
    policy = make_policy("t", {"age": ROUGH_AGE, "place": public(kind)}, k=2)
    with pytest.raises(ConfigError) as refused:
        publish_to(opened, policy.parsed(), f"duckdb:{tmp_path}/h.duckdb#p", user="tester")

    assert NUMBER not in "".join(traceback.format_exception(refused.value)).replace(str(tmp_path), "")
    assert "3 values" in refused.value.detail


@pytest.mark.parametrize("bad", ["too many fields", "too few fields", "open quote"])
def test_the_engine_would_have_told(tmp_path: Path, bad: str) -> None:
    """What proves the tests above: the words that are kept back do quote the row."""
    source = tmp_path / "source.csv"
    source.write_text(HEADER + BAD[bad])
    reader = CsvFile(str(source))
    with pytest.raises(duckdb.Error, match=SECRET):
        reader.batches(reader.columns()).read_all()
