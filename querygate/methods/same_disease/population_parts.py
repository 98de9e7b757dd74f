"""Partitioning: parts of the population that have about the same share in the file, each published as one class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.same_disease.instance_risk import InstanceRisk, instance_risk
from querygate.methods.same_disease.part_tree import LEAST, CodeAtoms, Rules, Tree, grow, prune
from querygate.methods.same_disease.quasi_ranges import Cell
from querygate.methods.same_disease.study import Study

TIGHTENING, STEP = 0.02, 0.8
"""How much R may rise for a smaller greatest risk, and by how much the limit is lowered at a time."""


@dataclass(frozen=True, slots=True)
class PopulationPart:
    """Records that are published alike, the people of the population who match, and what is published of them."""

    records: int
    people: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """The parts that have a record, and for each record of the file the number of its part."""

    names: tuple[str, ...]
    parts: tuple[PopulationPart, ...]
    part_of: Ints
    risk: InstanceRisk
    loss: Floats  # for each column, the mean share of its other values that a record may also have

    def published(self) -> dict[str, list[str]]:
        """The columns of the file as they are published, in the order of its records."""
        texts = [[str(cell) for cell in part.cells] for part in self.parts]
        return {name: [texts[part][at] for part in self.part_of.tolist()] for at, name in enumerate(self.names)}


def partition(study: Study, classes: int | None = None, rules: Rules = LEAST) -> Partition:
    """The file in parts of small instance risk: all that the rules allow, or no more than needed for so many classes.

    Each part is published with the most detailed values that its *people* have in common, not just its records: the
    people who match what is published are then those of the part, and N is what an attacker would count. Parts do not
    overlap. Fewer classes have less risk: with `classes`, the splits that cost most are taken back until only so many
    are left (all, if the rules do not allow as many).

    >>> import numpy as np
    >>> from querygate.methods.same_disease import Quasi
    >>> people = {"age": np.arange(40, 60), "zip": np.repeat(["37203", "37212"], 10)}
    >>> file = {"age": np.array([41, 46, 52, 57]), "zip": np.repeat(["37203", "37212"], 2)}
    >>> made = partition(Study.of([Quasi("age", "age"), Quasi("zip", "zip")], people, file))
    >>> [(part.records, part.people, *map(str, part.cells)) for part in made.parts]
    [(1, 5, '40 to 44', '37203'), (1, 5, '45 to 49', '37203'), (1, 5, '50 to 54', '37212'), (1, 5, '55 to 59', '37212')]
    """
    _able(study, rules)
    return _made(study, *study.atoms(), study.records if classes is None else max(classes, 1), rules)


def tightened(study: Study, classes: int, rules: Rules = LEAST) -> Partition:
    """A partition into so many classes whose greatest risk is as small as R allows, found by lowering the limit.

    A limit on r shuns the few classes that stand out; R is an average and hardly feels them. The limit is lowered step
    by step below the greatest r so far, as long as there are enough classes, none is larger than the rules and the data
    make it anyway, and R rises by less than a fiftieth.
    """
    _able(study, rules)
    atoms, atom_of = study.atoms()
    best = _made(study, atoms, atom_of, max(classes, 1), rules)
    enough, most = min(classes, best.risk.classes), best.risk.average_instance * (1 + TIGHTENING)
    largest = max(study.records if rules.max_records is None else rules.max_records, best.risk.largest)
    while (lower := STEP * best.risk.greatest_instance) > study.prevalence:
        tried = _made(study, atoms, atom_of, max(classes, 1), replace(rules, limit=lower))
        if tried.risk.classes < enough or tried.risk.average_instance > most or tried.risk.largest > largest:
            break
        best = tried
    return best


def _made(study: Study, atoms: CodeAtoms, atom_of: Ints, classes: int, rules: Rules) -> Partition:
    if not study.records:
        none = np.zeros(0, dtype=np.int64)
        return Partition(_names(study), (), none, instance_risk(none, none), np.zeros(len(study.columns)))
    tree = grow(atoms, rules)
    nodes = prune(tree, classes, study.records if rules.max_records is None else rules.max_records)
    cells, widths = _publish(study, atoms, tree, nodes)
    part_of_atom = np.empty(tree.atoms.size, dtype=np.int64)
    part_of_atom[tree.atoms] = np.repeat(np.arange(nodes.size), tree.end[nodes] - tree.start[nodes])
    records, people = tree.records[nodes], tree.people[nodes]
    parts = tuple(map(PopulationPart, records.tolist(), people.tolist(), cells))
    loss = records @ widths / study.records
    return Partition(_names(study), parts, part_of_atom[atom_of], instance_risk(records, people), loss)


def _able(study: Study, rules: Rules) -> None:
    if study.records and study.records < rules.min_records:
        raise ValueError(f"the file has {study.records:,} records, fewer than a part must have")
    if study.people < rules.min_people > 1:
        raise ValueError(f"the population has {study.people:,} people, fewer than must match a part")
    if study.prevalence > rules.limit:
        raise ValueError(
            f"{100 * study.prevalence:.2f} % of the population are in the file: no partition can have a lower risk"
        )


def _names(study: Study) -> tuple[str, ...]:
    return tuple(column.quasi.name for column in study.columns)


def _publish(study: Study, atoms: CodeAtoms, tree: Tree, nodes: Ints) -> tuple[list[tuple[Cell, ...]], Floats]:
    """What each part publishes, and how wide that is in each column."""
    found: list[list[Cell]] = [[] for _ in nodes]
    widths = np.zeros((nodes.size, len(study.columns)))
    spans = list(zip(tree.start[nodes].tolist(), tree.end[nodes].tolist(), strict=True))
    for at, column in enumerate(study.columns):
        codes = atoms.codes[at][tree.atoms]
        for part, (start, end) in enumerate(spans):
            present = np.unique(codes[start:end])
            cell, covered = column.cell(present)
            found[part].append(cell)
            widths[part, at] = (covered - 1) / max(column.size - 1, 1)
    return [tuple(cells) for cells in found], widths
