"""Same-disease files: records in parts of the population that have about the same share in the file.

In a file of one disease being listed is the disclosure, so the guarantee is not k but the instance risk: how likely it
is that somebody who matches a class is in the file. Its average and maximum are no greater than under Safe Harbor, with
as many classes, and no greater than the policy's limit, if any. All of this is counted again on what is released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ExtractRefused
from querygate.core.progress import Progress
from querygate.core.types import DISCRETE, Ints
from querygate.custody.columns.population import Population
from querygate.custody.columns.value_groups import with_values
from querygate.custody.extract import reviewer_figures
from querygate.custody.extract.class_columns import ClassColumn, publish_column
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.public_cells import drawn_members, lay_into_cells, looked_up, made_of, of_classes
from querygate.custody.extract.raw_tables import out_of, texts_of
from querygate.custody.extract.register_columns import RegisterColumn, RenumberedColumn, link
from querygate.custody.extract.same_disease_check import FileRisk, Yardstick, look_at_safe_harbor, look_up
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.methods.same_disease import (
    InstanceRisk,
    Partition,
    Rules,
    SafeHarborComparison,
    Study,
    explain_comparison,
    explain_instance,
    partition,
    tightened,
)

ROOM = 1e-9
"""Relative tolerance for the order in which shares are added."""

_HARBOR = "as under Safe Harbor on the same records"
_RISKS = ("greatest_match", "average_match", "greatest_instance", "average_instance")


@dataclass(frozen=True)
class _Ground:
    """Records and register in their common columns, with Safe Harbor on them and the permitted risk."""

    linked: Sequence[RegisterColumn]
    study: Study
    harbor: Yardstick
    bound: float | None  # of the policy
    k: int | None

    @property
    def limit(self) -> float:
        """The greatest permitted instance risk."""
        return min(self.harbor.risk.greatest_instance, 1.0 if self.bound is None else self.bound)

    @property
    def enough(self) -> int:
        """The required number of classes: as many as Safe Harbor has (with k records each, if a k is requested)."""
        return sum(1 for records in self.harbor.risk.class_records if records >= (self.k or 1))


def make_same_disease(
    policy: Policy,
    rows: RecordReader,
    where: str,
    register: Population | None,
    *,
    k: int | None,
    year: int,
    draw: Callable[[str], np.random.Generator],
    progress: Progress,
) -> tuple[ProtectedRecords, dict[str, Any]]:
    """The selected records in parts of small instance risk, in random order, and their risk."""
    release, register, columns = looked_up(policy, register)
    register = _whole(register, columns)
    state = PublicationState(replace(policy, k=1), rows.staging(), StepProgress(progress))
    try:
        state = lay_into_cells(state, rows, where)
        members = drawn_members(state, draw)
        known = _known(state, rows, where, columns)
        progress("measuring Safe Harbor")
        harbor = look_at_safe_harbor(columns, members, register, year)
        linked = [link(c, members[c.name], register, state.numbers.get(c.name), known.get(c.name, ())) for c in columns]
        ground = _Ground(linked, _study(linked, register), harbor, release.instance, k)
        _check_able(ground)
        progress("partitioning the population")
        for way in (
            tightened,
            partition,
        ):  # the second if the average matters, which the first may raise a little
            made = way(ground.study, harbor.risk.classes, _rules(ground))
            protected = _protected(state, members, ground, made)
            looked = look_up(protected.table, columns, register, known)
            protected = replace(protected, kept=_promises(ground, looked.risk, protected.k))
            if all(one.holds for one in protected.kept):
                break
    finally:
        state.staging.close()
    _check(ground, made, looked, protected.kept)
    found = _figures(policy, ground, register, made, looked.risk)
    compared = SafeHarborComparison(harbor.harbor, made, ground.study.prevalence)
    words = [explain_instance(looked.risk), explain_comparison(compared), *_notes(found)]
    told = reviewer_figures.risk_of_classes(protected, policy, None, of_classes(protected.classes, looked.matches))
    return protected, {**told, "same_disease": found, "words": [*words, *told["words"]]}


# -- both sides --------------------------------------------------------------------------------------------------------


def _whole(register: Population, columns: Sequence[ColumnPolicy]) -> Population:
    """The register with whole numbers in columns of whole numbers; other values become unknown."""
    values = dict(register.values)
    for column in columns:
        if column.type in DISCRETE:
            own = values[column.name]
            values[column.name] = np.where(own == np.floor(own), own, np.nan)
    return replace(register, values=values)


def _known(
    state: PublicationState, rows: RecordReader, where: str, columns: Sequence[ColumnPolicy]
) -> dict[str, tuple[str, ...]]:
    """The values that a category may have: the declared ones, and those of the whole source.

    Not just those of the selected records: the meaning of a text such as * must not depend on who is selected.
    """
    texts = {column.name: state.texts[column.name] for column in columns if not column.is_numeric}
    if not texts or not where:
        return texts
    source = rows.selected("")
    with source.reading():
        batches: Any = source.batches(list(texts))
        raw = batches.read_all()
    found = {name: texts_of(raw[name].unique()) for name in texts}
    return {name: tuple(sorted({*own, *(t for t in found[name] if t is not None)})) for name, own in texts.items()}


def _study(linked: Sequence[RegisterColumn], register: Population) -> Study:
    """The people whose values may be published, and the records, in the columns in which some record has a value."""
    told = [one for one in linked if one.is_told]
    if not told:
        raise ExtractRefused("QG605", "No record has a value that occurs in the population.", "Request other columns.")
    able = np.logical_and.reduce([one.able for one in told])
    people = {one.quasi.name: one.people[able] for one in told}
    records = {one.quasi.name: one.records for one in told}
    return Study.of([one.quasi for one in told], people, records, register.persons[able])


def _check_able(ground: _Ground) -> None:
    """Check the conditions that no way of publishing can change."""
    study, k = ground.study, ground.k or 1
    if study.records >= study.people:
        raise ExtractRefused(
            "QG605",
            f"The population lists {study.people:,} people who could match, and the file has {study.records:,} "
            "records: everybody who matches is in it.",
            "Name the whole population that the file is part of, with values spelled as in the source, and the count "
            "column if a row stands for several people.",
        )
    if study.prevalence > ground.limit * (1 + ROOM):
        raise ExtractRefused(
            "QG605",
            f"A share of {study.prevalence:.4g} of the population is in the file, above the maximum instance risk of "
            f"{ground.limit:.4g}: no extract can have a lower risk.",
            "Select fewer records, name a larger population, or raise release.instance in the policy.",
        )
    if study.records < k:
        raise ExtractRefused(
            "QG605", f"The request selects fewer than k = {k} records.", "Select more records, or lower k."
        )


def _rules(ground: _Ground) -> Rules:
    return Rules(min_records=ground.k or 1, limit=min(1.0, ground.limit * (1 + ROOM)))


# -- what leaves -------------------------------------------------------------------------------------------------------


def _protected(state: PublicationState, members: pa.Table, ground: _Ground, made: Partition) -> ProtectedRecords:
    """Columns of the register by part, the others by cell: a class has the same part and the same cells."""
    out = list(out_of(state.policy))
    cells: Ints = np.asarray(members["class"], dtype=np.int64)
    pairs, classes = np.unique(np.stack([cells, made.part_of]), axis=1, return_inverse=True)
    classes = classes.reshape(-1)
    boxes, parts = {box.name: box for box in with_values(state)}, _parts(ground.linked, made)
    published: dict[str, ClassColumn] = {
        c.name: RenumberedColumn(parts[c.name], pairs[1])
        if c.name in parts
        else RenumberedColumn(publish_column(state, c, boxes[c.name]), pairs[0])
        for c in out
        if c.name in boxes
    }
    lost = dict(zip(made.names, made.loss.tolist(), strict=True))
    loss = {name: lost.get(name, 0.0 if name in parts else share) for name, share in state.loss.items()}
    return made_of(state, members, published, classes, kind="same-disease", method="partition", loss=loss)


def _parts(linked: Sequence[RegisterColumn], made: Partition) -> dict[str, ClassColumn]:
    place = {name: at for at, name in enumerate(made.names)}
    return {
        one.quasi.name: one.publish([part.cells[place[one.quasi.name]] for part in made.parts])
        if one.quasi.name in place
        else one.untold(len(made.parts))
        for one in linked
    }


# -- the guarantee
# -------------------------------------------------------------------------------------------------------


def _promises(ground: _Ground, found: InstanceRisk, k: int) -> tuple[GuaranteeCheck, ...]:
    """The guarantees of the file, with the figures counted on it."""
    harbor = ground.harbor.risk
    at_most = [
        ("average instance risk R", found.average_instance, harbor.average_instance, _HARBOR),
        ("maximum instance risk r", found.greatest_instance, harbor.greatest_instance, _HARBOR),
    ]
    if ground.bound is not None:
        at_most.append(("maximum instance risk r", found.greatest_instance, ground.bound, "set in the policy"))
    of_k = "" if ground.k is None else f" with at least {ground.k} records"
    kept = [
        GuaranteeCheck(
            f"at least {ground.enough:,} classes, as many as Safe Harbor gives on the same records{of_k}",
            "classes in the columns of the population",
            found.classes,
            found.classes >= ground.enough,
        ),
        *(
            GuaranteeCheck(f"at most {most:.4g}, {whose}", measure, risk, risk <= most * (1 + ROOM))
            for measure, risk, most, whose in at_most
        ),
    ]
    if ground.k is not None:
        kept.append(GuaranteeCheck(f"at least {ground.k} records that look alike", "smallest class", k, k >= ground.k))
    return tuple(kept)


def _check(ground: _Ground, made: Partition, looked: FileRisk, kept: Sequence[GuaranteeCheck]) -> None:
    """Nothing is released unless the guarantees hold, as counted on the file itself."""
    found, harbor = looked.risk, ground.harbor.risk
    told = [(getattr(made.risk, name), getattr(found, name)) for name in _RISKS]
    if made.risk.classes != found.classes or any(abs(one - two) > ROOM for one, two in told):
        raise ExtractRefused(
            "QG605",
            "The extract does not keep its guarantee: its measured risks differ from the computed ones.",
            "Nothing was written. Report this fault to the makers of QueryGate.",
        )
    broken = [one for one in kept if not one.holds]
    if broken:
        first = broken[0]
        bound = "" if ground.bound is None else f"; policy: at most {ground.bound:.4g}"
        raise ExtractRefused(
            "QG605",
            f"The extract would not keep its guarantee: {first.measure} = {first.figure:.4g}, not {first.promise}. "
            f"It has {counted(found.classes, 'class', 'classes')} (Safe Harbor: {harbor.classes:,}), "
            f"R {found.average_instance:.4g} (Safe Harbor: {harbor.average_instance:.4g}), "
            f"and r up to {found.greatest_instance:.4g} (Safe Harbor: {harbor.greatest_instance:.4g}{bound}).",
            f"{'; '.join(_advice(ground))}.",
        )


def _advice(ground: _Ground) -> list[str]:
    celled = [one.column.name for one in ground.linked if one.column.edges or one.column.groups]
    return [
        "Request fewer columns, select fewer records, or name a larger population",
        *(["raise release.instance in the policy"] if ground.bound is not None else []),
        *(["lower k"] if ground.k is not None else []),
        *(
            [f"make the policy's cells of {', '.join(celled)} finer, since Safe Harbor leaves them unchanged"]
            if celled
            else []
        ),
    ]


# -- the figures for the report
# ------------------------------------------------------------------------------------------------


def _figures(
    policy: Policy, ground: _Ground, register: Population, made: Partition, risk: InstanceRisk
) -> dict[str, Any]:
    names, people = [one.column.name for one in ground.linked], ground.study.people
    loss = dict(zip(made.names, made.loss.tolist(), strict=True))
    theirs = dict(zip(names, ground.harbor.harbor.loss.tolist(), strict=True))
    return {
        "partition": _risk(risk),
        "safe_harbor": _risk(ground.harbor.risk),
        "floor": ground.study.prevalence,
        "bound": ground.bound,
        "loss": [
            {
                "column": name,
                "partition": loss.get(name, 0.0),
                "safe_harbor": theirs[name],
                "does": ground.harbor.does[name],
            }
            for name in names
        ],
        "population": {"people": people, "left_out": int(register.persons.sum()) - people, "columns": names},
        "unknown": [c.name for c in policy.named("quasi-identifier") if c.name not in names],
    }


def _risk(found: InstanceRisk) -> dict[str, Any]:
    """The risk figures, without the records and people of each class."""
    told: Mapping[str, Any] = found.to_dict()
    return {name: value for name, value in told.items() if name not in ("class_records", "class_people")}


def _notes(found: Mapping[str, Any]) -> list[str]:
    words = []
    if found["population"]["left_out"]:
        words.append(
            f"{counted(found['population']['left_out'], 'person', 'people')} in the population cannot be counted: with "
            "an unknown or non-public value, they match nothing in the extract."
        )
    if found["unknown"]:
        words.append(
            f"The population does not contain {', '.join(found['unknown'])}: generalised to the cells of the policy, "
            "these columns count as unknown to everybody."
        )
    return words
