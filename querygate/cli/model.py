"""The command that fits a model: model."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from querygate.cli.query import print_answer
from querygate.cli.shared.actor import find_principal
from querygate.cli.shared.command import Command
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.core.model_question import FAMILIES, Family, ModelQuestion
from querygate.custody.use_cases.open_custody import with_vault
from querygate.gate.models.model_answer import ask_model

EXAMPLE = """\
querygate model --dataset patients --family logistic "diabetes ~ bands(age) + sex"
querygate model --dataset patients --family mantel-haenszel "diabetes ~ smoker | bands(age)\""""


def read_pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Names with what belongs to them."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.rpartition("="))
        if not sign or not name or not value:
            raise click.BadParameter("Write it as NAME=VALUE.")
        found[name] = value
    return found


def read_weights(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    """Strata with their weights."""
    try:
        found = {name: float(value) for name, value in read_pairs(ctx, param, given).items()}
    except ValueError:
        found = {"": -1.0}
    if not all(0 <= weight < float("inf") for weight in found.values()) or (found and not sum(found.values()) > 0):
        raise click.BadParameter("Weights are numbers that are not below zero, and not all zero.")
    return found


@click.command(cls=Command, example=EXAMPLE)
@click.argument("formula")
@click.option("--dataset", required=True, metavar="NAME", help="Dataset of the model.")
@click.option("--family", required=True, type=click.Choice(FAMILIES), help="Kind of model.")
@click.option("--where", default="", metavar="SQL", help="Condition that selects records.  [default: all]")
@click.option("--exposure", default="", metavar="COLUMN", help="Column with the time at risk, for a Poisson model.")
@click.option(
    "--reference",
    multiple=True,
    metavar="FACTOR=LEVEL",
    callback=read_pairs,
    help="Level that others are compared with. May be repeated.  [default: the first]",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="STRATUM=NUMBER",
    callback=read_weights,
    help="Standard population of standardised rates. May be repeated.  [default: the dataset's own]",
)
@click.option(
    "--as", "name", metavar="USER", help="Ask as this user of the site.  [default: the person at the console]"
)
@click.option("--explain", is_flag=True, help="Say why the counts behind the model are as wide as they are.")
@format_option
@site_option
def model(
    formula: str,
    dataset: str,
    family: str,
    where: str,
    exposure: str,
    reference: dict[str, str],
    weights: dict[str, float],
    name: str | None,
    explain: bool,
    form: str,
    site: Path,
) -> None:
    """Fit a model and print a guaranteed range for each coefficient, ratio and confidence limit.

    FORMULA is outcome ~ term + term, or outcome ~ group | stratum. The statement that the model needs is run
    and logged like any other, and the model is computed from its answer.
    """
    opened = with_vault(open_here(site))
    principal = find_principal(opened, name)
    question = ModelQuestion(
        principal, dataset, cast(Family, family), formula, where, exposure, reference, weights, explain
    )
    body = ask_model(question, opened.gate)
    print_answer(body, form)
