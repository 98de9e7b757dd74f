"""The risk report as one JSON object. Aggregates alone: no value of a record, and no identifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from querygate.core.progress import Progress, no_progress
from querygate.custody.assess.code_table import SafeHarborTreatment
from querygate.custody.assess.side_figures import side_figures
from querygate.custody.assess.sides import DiseaseScope, Side
from querygate.custody.assess.verdict import SIDES, summary, verdict
from querygate.custody.columns.population import Population
from querygate.custody.policy import Policy

FORMAT = 1

After = Literal["published", "release", "policy", "extract"]
"""What "after" is: the version that is served, a release that was given, what the policy would make, or the records of
a request."""


@dataclass(frozen=True)
class Assessment:
    """Three sides of one dataset, and what they were measured with."""

    policy: Policy
    after: After
    sides: Mapping[str, Side]
    treated: Sequence[SafeHarborTreatment]
    population: Population | None = None
    disease: DiseaseScope | None = None
    version: int | None = None
    made: str = ""
    notes: Sequence[str] = ()


def make_report(assessed: Assessment, progress: Progress = no_progress) -> dict[str, Any]:
    """The report as a JSON object."""
    policy, population = assessed.policy, assessed.population
    people = None if population is None else int(population.persons.sum())
    sides = {}
    for name in SIDES:
        progress(f"measuring: {NAMES[name]}")
        sides[name] = side_figures(assessed.sides[name], policy, people)
    quasi = [column.name for column in policy.named("quasi-identifier")]
    body: dict[str, Any] = {
        "format": FORMAT,
        "dataset": policy.dataset,
        "title": policy.title,
        "version": assessed.version,
        "made": assessed.made,
        "policy_hash": policy.hash,
        "after": assessed.after,
        "records": {"raw": sides["raw"]["records"], "after": sides["after"]["records"]},
        "columns": {"quasi": quasi, "sensitive": [column.name for column in policy.named("sensitive")]},
        "register": None if population is None else _register(population, quasi),
        "disease": None if assessed.disease is None else {"column": assessed.disease.column or None},
        "safe_harbor": [one.to_dict() for one in assessed.treated],
        "sides": sides,
        "verdict": verdict(sides),
    }
    return {**body, "words": summary(body), "notes": [*assessed.notes, *_notes(body)]}


NAMES = {"raw": "raw records", "safe_harbor": "Safe Harbor", "after": "the release"}


def _register(population: Population, quasi: Sequence[str]) -> dict[str, Any]:
    shared = [name for name in quasi if name in population.values]
    return {
        "people": int(population.persons.sum()),
        "kinds": int(population.persons.size),
        "columns": shared,
        "not_in_register": [name for name in quasi if name not in shared],
    }


def _notes(body: Mapping[str, Any]) -> list[str]:
    """What limits the figures."""
    notes = []
    register = body["register"]
    if register is None:
        notes.append(
            "No register of the population was given: the journalist, k-map, uniqueness in the population and the risk "
            "of being in the file are not measured."
        )
        return notes
    if register["not_in_register"]:
        notes.append(
            f"The register does not have {', '.join(register['not_in_register'])}: whoever looks people up in a fuller "
            "one finds more of them."
        )
    raw = body["sides"]["raw"]
    if register["people"] < raw["records"]:
        notes.append("The register lists fewer people than there are records, so it is not of the whole population.")
    elif raw["attackers"]["unmatched"] or raw["attackers"]["short"]:
        left = raw["attackers"]["unmatched"] + raw["attackers"]["short"]
        notes.append(
            f"For {left:,} raw records the register lists fewer people than there are records: it leaves people out "
            "or spells values otherwise, and a journalist with a better one would be stronger."
        )
    if body["disease"] is not None and body["sides"]["after"]["instance"] is None:
        notes.append("The risk of being in the file is not measured for the release: it does not tell who is meant.")
    return notes
