"""The command that asks: query."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from querygate.cli.shared.asked_gate import asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import plain, print_json, print_record, print_records, print_table
from querygate.cli.shared.shared_options import format_option, site_option
from querygate.core.answer_bodies import AnswerBody, Verdict
from querygate.core.types import QueryOptions
from querygate.gate import render
from querygate.gate.query_state import MODES, NOISY
from querygate.gate.width_explanation_text import explanation_lines

EXAMPLE = """\
querygate query --dataset patients "SELECT sex, AVG(sbp) FROM patients GROUP BY sex"
querygate query --dataset patients --format csv - < question.sql
querygate --url https://gate.example.org query --dataset patients - < question.sql"""


def read_statement(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """The SQL, or what standard input holds where - is given."""
    try:
        text = sys.stdin.read() if value == "-" else value
        text.encode()
    except UnicodeError:
        raise click.BadParameter("The statement is not UTF-8.") from None
    return text


@click.command(cls=Command, example=EXAMPLE, elsewhere=True)
@click.argument("sql", callback=read_statement)
@click.option("--dataset", required=True, metavar="NAME", help="Dataset to query.")
@click.option(
    "--as", "name", metavar="USER", help="Ask as this user of the site.  [default: the person at the console]"
)
@click.option(
    "--check",
    is_flag=True,
    help="Only check whether the statement would be accepted. Nothing is read, unless to --explain; it is logged.",
)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    help="Ranges, or numbers with noise.  [default: ranges, if the policy allows them]",
)
@click.option(
    "--epsilon", type=click.FloatRange(0, min_open=True), metavar="E", help="Maximum epsilon to spend on noise."
)
@click.option(
    "--consistent", is_flag=True, help="Make noisy counts consistent: none negative, parts that add up to their total."
)
@click.option(
    "--explain", is_flag=True, help="Say why the ranges are as wide as they are, and which questions are narrower."
)
@format_option
@site_option
def query(
    sql: str,
    dataset: str,
    name: str | None,
    check: bool,
    mode: str | None,
    epsilon: float | None,
    consistent: bool,
    explain: bool,
    form: str,
    site: Path,
) -> None:
    """Run one statement and print guaranteed ranges, or noisy numbers.

    SQL is one SELECT of aggregates FROM the dataset; - reads it from standard input. The statement and its answer are
    logged.
    """
    gate = asked_gate(site, name, noisy=True)
    options = QueryOptions(mode, epsilon, consistent, explain=explain)
    if check:
        verdict = gate.check(dataset, sql, options)
        print_record(verdict, form, lambda: explain_verdict(verdict))
    else:
        print_answer(gate.ask(dataset, sql, options).body, form)


def print_answer(body: AnswerBody, form: str) -> None:
    if form == "json":
        print_json(body)
    elif form == "jsonl":
        print_records(body["rows"], form, columns=())
    elif form == "csv":
        click.echo(render.to_csv(body).decode().replace("\r\n", "\n"), nl=False)
    else:
        if "limit" in body:
            click.echo(f"{body['limit']['note']}\n")
        print_table(*render.readable(body))
        for note in body["notes"]:
            click.echo(note)
        if "explanation" in body:
            click.echo()
            for line in explanation_lines(body["explanation"]):
                click.echo(plain(line))
        if "budget" in body:
            click.echo(f"\nSpent epsilon {body['budget']['spent']:g}; {body['budget']['left']:g} left.")
        took = f"; {body['elapsed_ms']} ms" if "elapsed_ms" in body else ""
        click.echo(f"\n{body['dataset']}, version {body['version']}; {body['query_id']}{took}")


def explain_verdict(verdict: Verdict) -> str:
    """The verdict for a person."""
    columns = ", ".join(f"{column['name']} ({column['kind']})" for column in verdict["columns"])
    if verdict.get("mode") == NOISY:
        return explain_price(verdict, columns)
    told = {
        "columns": columns,
        "groups": f"at most {verdict['groups_at_most']:,}",
        "ranges": verdict["width"],
        "epsilon": "0",
    }
    if verdict.get("sharpened_by"):
        told["ranges"] += f", sharpened by class moments of {', '.join(verdict['sharpened_by'])}"
    if verdict.get("widths"):
        told["widths"] = ", ".join(f"{name} {width}" for name, width in verdict["widths"].items())
    if verdict.get("views"):
        told["views"] = "; ".join(", ".join(view) for view in verdict["views"])
    lines = [f"  {name:9} {value}" for name, value in told.items()]
    return "\n".join(["Accepted.", *lines, *verdict.get("notes", ())])


def explain_price(verdict: Verdict, columns: str) -> str:
    """What a noisy answer costs and how precise it is, for a person."""
    precise = [f"{name} within {width:.6g}" for name, width in verdict["accuracy"].items() if width is not None]
    left = ", ".join(f"{kind} {epsilon:g}" for kind, epsilon in verdict["budget"].items())
    told = {
        "columns": columns,
        "groups": f"{verdict['groups_at_most']:,}",
        "precise": f"{', '.join(precise)}, in 95 of 100 answers" if precise else "depends on the data",
        "epsilon": f"{verdict['cost']['epsilon']:g}, at least {verdict['cost']['epsilon_least']:g}",
        "left": left,
    }
    lines = [f"  {name:9} {value}" for name, value in told.items()]
    return "\n".join(["Accepted.", *lines, *verdict.get("notes", ())])
