"""The command that says how to cite an answer: cite."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from querygate.cli.shared.asked_gate import AskedGate, GivenAnswer, asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import plain
from querygate.cli.shared.shared_options import site_option
from querygate.control.ids import CROCKFORD
from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import QueryGateError

STYLES = ("text", "bibtex", "csl-json")
_BIBTEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
)


@click.command(cls=Command, example="querygate cite q_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --style bibtex", elsewhere=True)
@click.argument("answer_id")
@click.option("--style", type=click.Choice(STYLES), default="text", help="As what.  [default: text]")
@click.option(
    "--as", "name", metavar="USER", help="View as this user of the site.  [default: the person at the console]"
)
@site_option
def cite(answer_id: str, style: str, name: str | None, site: Path) -> None:
    """Print a citation of the answer with this id: dataset, version, policy and time, so that others can repeat the
    query."""
    gate = asked_gate(site, name)
    given = gate.answer(answer_id)
    title, day = find_title(gate, given.body), day_of(given.body["query_id"])
    click.echo({"text": cite_text, "bibtex": cite_bibtex, "csl-json": cite_csl}[style](given, title, day, gate.place))


def find_title(gate: AskedGate, body: AnswerBody) -> str:
    """The title of the dataset; its name, where it has none or is not there any more."""
    try:
        return gate.describe(body["dataset"])["title"] or body["dataset"]
    except QueryGateError:
        return body["dataset"]


def day_of(answer_id: str) -> datetime:
    """When it was asked: the first ten signs of the id are the time.

    >>> day_of("q_01KJKB3Q000000000000000000").isoformat()
    '2026-03-01T00:00:00+00:00'
    """
    number = 0
    for sign in answer_id.removeprefix("q_")[:10]:
        number = number * 32 + CROCKFORD.index(sign)
    return datetime.fromtimestamp(number / 1000, UTC)


def cite_text(given: GivenAnswer, title: str, day: datetime, place: str) -> str:
    at = f" {address_of(given.body, place)}" if place else ""
    return plain(f"{title}. {_about(given)}. QueryGate, {day:%Y-%m-%d}.{at}")


def cite_bibtex(given: GivenAnswer, title: str, day: datetime, place: str) -> str:
    fields = {
        "title": f"{{{title.translate(_BIBTEX)}}}",
        "howpublished": "QueryGate",
        "year": f"{day:%Y}",
        "month": f"{day:%b}".lower(),
        "note": _about(given).translate(_BIBTEX),
    }
    if place:
        fields["url"] = address_of(given.body, place)
    lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{given.body['query_id']},", *map(plain, lines), "}"])


def cite_csl(given: GivenAnswer, title: str, day: datetime, place: str) -> str:
    item: dict[str, object] = {
        "id": given.body["query_id"],
        "type": "dataset",
        "title": title,
        "publisher": "QueryGate",
        "version": str(given.body["version"]),
        "issued": {"date-parts": [[day.year, day.month, day.day]]},
        "note": _about(given),
    }
    if place:
        item["URL"] = address_of(given.body, place)
    return json.dumps([item], indent=2, ensure_ascii=False)


def address_of(body: AnswerBody, place: str) -> str:
    return f"{place}/api/v1/answers/{body['query_id']}.json"


def _about(given: GivenAnswer) -> str:
    body, policy = given.body, f", policy {given.policy_hash[:12]}" if given.policy_hash else ""
    return f"Dataset {body['dataset']}, version {body['version']}{policy}, answer {body['query_id']}"
