"""What is asked for, from a file and from options: the same keys in both, and options come first."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import click

from querygate.cli.shared.shared_options import F
from querygate.core.extracts.extract_spec import Format, Kind, Times, invalid

LISTS = ("columns", "formats")


def spec_options(command: F) -> F:
    """--file and one option for each key of a request."""
    options = (
        click.option(
            "--file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="The request as a TOML file."
        ),
        click.option("--dataset", metavar="NAME", help="Dataset to take records from."),
        click.option("--purpose", metavar="TEXT", help="Purpose of the extract."),
        click.option("--kind", type=click.Choice(get_args(Kind)), help="How records are protected."),
        click.option("--columns", metavar="A,B", help="Columns to include.  [default: all that queries reach]"),
        click.option("--where", metavar="SQL", help="Condition that selects records.  [default: all]"),
        click.option("--method", metavar="NAME", help="Method.  [default: chosen by the builder]"),
        click.option(
            "--k", type=int, metavar="K", help="Minimum number of identical records.  [default: chosen by the builder]"
        ),
        click.option("--suppress", type=float, metavar="SHARE", help="Largest share of records to leave out."),
        click.option("--suppress-cells", type=float, metavar="SHARE", help="Largest share of cells to replace by *."),
        click.option(
            "--model", "models", multiple=True, metavar="TEXT", help="A model the recipient will fit. May be repeated."
        ),
        click.option(
            "--tolerance",
            "tolerances",
            multiple=True,
            metavar="NAME=NUMBER",
            callback=read_tolerances,
            help="Largest acceptable loss. May be repeated.",
        ),
        click.option(
            "--times",
            type=click.Choice(get_args(Times)),
            help="Survival times of condensed records: drawn, or the patients' own.  [default: drawn]",
        ),
        click.option("--noisy", metavar="TEXT", help="Noisy model, such as 'logistic: died ~ age + sex'."),
        click.option("--parts", type=int, metavar="N", help="Components, clusters or bins of a noisy model."),
        click.option("--epsilon", type=float, metavar="E", help="Privacy budget that a noisy extract may cost."),
        click.option(
            "--formats", metavar="A,B", help=f"One or more of {', '.join(get_args(Format))}.  [default: csv,parquet]"
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_tolerances(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    """Names and numbers."""
    found: dict[str, float] = {}
    for text in given:
        name, _, number = (part.strip() for part in text.rpartition("="))
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter("Write it as mean(age)=5.")
    return found


def read_spec(given: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The body of a request: what was asked before, then the file, then the options that were given."""
    file = given["file"]
    written = read_file(file) if file else dict(before or {})
    chosen = {name: value for name, value in given.items() if name != "file" and value not in (None, (), {})}
    for name in LISTS:
        if name in chosen:
            chosen[name] = [part.strip() for part in chosen[name].split(",") if part.strip()]
    if "models" in chosen:
        chosen["models"] = list(chosen["models"])
    return {**written, **chosen}


def read_file(path: Path) -> dict[str, Any]:
    """A request as TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):  # not TOML, not UTF-8, or brackets without end
        raise invalid(path.name, "is not valid TOML; write one `name = value` per line") from None
    except OSError:
        raise invalid(path.name, "cannot be read") from None
