"""The first promise, measured on the written file: every class has the records of k people."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Arrays, Ints
from querygate.custody.verify.person_check import ClassPeople
from querygate.custody.verify.verifier_types import require


def check_class_sizes(cells: Arrays, sizes: Ints, least: int) -> int:
    """The fewest records that share their published quasi-identifiers, which `sizes` counts."""
    classes = cells["class"] - cells["class"].min()
    require(bool((cells["n"] > 0).all()), "no cell is empty")
    require(bool((np.bincount(classes, cells["n"])[classes] == cells["class_n"]).all()), "class sizes")
    k = int(sizes[sizes > 0].min())
    require(k >= least, f"k = {least}")
    return k


def check_class_people(people: ClassPeople | None, least: int) -> None:
    """The same for people, if they have several records."""
    require(people is None or people.fewest >= least, f"k = {least} people")
