"""Tables, carets and progress, as a terminal shows them."""

from __future__ import annotations

import io

import pytest

from querygate.cli.shared import output
from querygate.core.errors import Span


def test_wide_and_combining_characters_keep_the_columns_in_line(capsys):
    output.print_table(["name", "n"], [["日本", "1"], ["e\u0301a", "2"], ["plain", "3"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "日本   1"
    assert lines[3] == "e\u0301a     2"
    assert lines[4] == "plain  3"


def test_a_value_cannot_command_the_terminal(capsys):
    output.print_table(["v"], [["\x1b]0;title\x07\x9b31m\u202e"]])
    assert not set("\x1b\x07\x9b\u202e") & set(capsys.readouterr().out)


@pytest.mark.parametrize("column", [1, 60, 150, 300])
def test_the_caret_is_under_its_place_in_a_long_line(column):
    sql = "x" * (column - 1) + "?" + "x" * 300
    line, carets = output.point_at(sql, Span(1, column))
    assert line[carets.index("^")] == "?"
    assert len(line) <= output.WIDEST_LINE


def test_a_place_outside_the_statement_is_not_shown():
    assert output.point_at("SELECT", Span(2, 1)) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_one_line_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with output.progress() as tell:
        tell("reading")
        tell("writing")
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_a_known_share_is_a_bar_with_the_time_left(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    seconds = iter([0.0, 1.0, 30.0, 40.0, 50.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(seconds))
    with output.progress() as tell:
        tell("reading", 0.1)
        tell("dividing", 0.2)
        tell("dividing: snake")
        tell("dividing", 0.1)
    lines = terminal.getvalue().split("\r\x1b[2K")[1:]
    assert lines[0] == f"[{'#' * 3}{'.' * 27}]  10%  reading ..."
    assert lines[1] == f"[{'#' * 6}{'.' * 24}]  20%, 2:00 left  dividing ..."
    assert lines[2] == f"[{'#' * 6}{'.' * 24}]  20%, 2:40 left  dividing: snake ..."
    assert lines[3].startswith(f"[{'#' * 6}{'.' * 24}]  20%")  # it never goes back


def test_progress_is_plain_lines_elsewhere(capsys):
    with output.progress() as tell:
        tell("reading", 0.0)
        tell("reading", 0.1)
        tell("writing")
    assert capsys.readouterr().err == "reading\nwriting\n"


def test_csv_keeps_objects_as_json(capsys):
    output.print_records([{"a": 1, "b": {"c": [2]}}], "csv", columns=["a"])
    assert capsys.readouterr().out == 'a,b\n1,"{""c"": [2]}"\n'
