"""Instance risk: how likely somebody who matches a class is in the file, when being in it is the disclosure.

After Liu et al. ("Preserving patient privacy when sharing same-disease data", JDIQ 2016). For a class of n records
that N people of the population match, the *re-identification risk* q = 1/N is the chance of picking the right person
for a record; the *instance risk* r = n/N is the chance that one of these people is in the file. k-anonymity sees
neither: a class of 50 records that 50 people match is 50-anonymous and gives all of them away. Averages are over
records, because it is people who are at risk.

An incomplete register may list fewer people than the class has records. Each record is a person, so at least as many
people as records match: N is then taken as n, and r as 1. Such records are counted, for a register that leaves people
out overstates the risk of some classes and may hide it in others.

>>> import numpy as np
>>> found = instance_risk(np.array([3, 3]), np.array([3, 6]))
>>> found.greatest_instance, found.average_instance, found.average_match
(1.0, 0.75, 0.25)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class InstanceRisk:
    """Of all classes with a record: n and N of each, the greatest q and r, and their averages Q and R over records."""

    class_records: tuple[int, ...]
    class_people: tuple[int, ...]  # as listed, also where that is fewer than the records
    greatest_match: float
    average_match: float  # Q
    greatest_instance: float
    average_instance: float  # R
    unmatched: int = 0  # records that nobody in the population matches
    short: int = 0  # records of classes that fewer people match than there are records, but somebody

    @property
    def records(self) -> int:
        return sum(self.class_records)

    @property
    def classes(self) -> int:
        return len(self.class_records)

    @property
    def largest(self) -> int:
        """The records of the largest class."""
        return max(self.class_records, default=0)

    @property
    def incomplete(self) -> int:
        """Records whose class shows that the register leaves people out."""
        return self.unmatched + self.short

    def match(self) -> Floats:
        """q of each class."""
        return 1.0 / np.maximum(self.class_people, self.class_records)

    def instance(self) -> Floats:
        """r of each class."""
        records = np.asarray(self.class_records, dtype=np.float64)
        return records / np.maximum(records, self.class_people)

    def to_dict(self) -> dict[str, JsonValue]:
        return {"records": self.records, "classes": self.classes, "largest": self.largest, **to_json(self)}


def instance_risk(records: Ints, people: Ints) -> InstanceRisk:
    """Of classes of so many records that so many people match. Classes without a record publish nothing.

    >>> import numpy as np
    >>> found = instance_risk(np.array([2, 3, 0]), np.array([0, 2, 9]))  # a register that leaves people out
    >>> found.classes, found.instance().tolist(), found.unmatched, found.short
    (2, [1.0, 1.0], 2, 3)
    """
    if records.shape != people.shape or records.ndim != 1:
        raise ValueError("one number of people for each class")
    if records.size and min(int(records.min()), int(people.min())) < 0:
        raise ValueError("numbers of records and of people are not negative")
    kept = records > 0
    records, people = records[kept].astype(np.int64), people[kept].astype(np.int64)
    total, among = max(int(records.sum()), 1), np.maximum(records, people)
    match, instance = 1 / among, records / among
    return InstanceRisk(
        tuple(records.tolist()),
        tuple(people.tolist()),
        float(match.max(initial=0.0)),
        float(records @ match) / total,
        float(instance.max(initial=0.0)),
        float(records @ instance) / total,
        int(records[people == 0].sum()),
        int(records[(people > 0) & (people < records)].sum()),
    )


def explain_instance(found: InstanceRisk) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> explain_instance(instance_risk(np.array([3, 3]), np.array([30, 60])))
    'A person of the population who matches one of the 2 classes is among the 6 records with a probability of at most \
10.00 % (7.50 % on average); picking the right person for a record succeeds with 2.50 %.'
    >>> explain_instance(instance_risk(np.array([3, 3]), np.array([2, 60])))
    'A person of the population who matches one of the 2 classes is among the 6 records with a probability of at most \
100.00 % (52.50 % on average); picking the right person for a record succeeds with 17.50 %. For 3 of them, the \
register lists fewer people than there are records: it omits people, and their risk is taken as certain.'
    """
    if not found.records:
        return "There are no records, so being in the file discloses nothing."
    text = (
        f"A person of the population who matches one of the {found.classes:,} classes is among the {found.records:,} "
        f"records with a probability of at most {100 * found.greatest_instance:.2f} % "
        f"({100 * found.average_instance:.2f} % on average); picking the right person for a record succeeds with "
        f"{100 * found.average_match:.2f} %."
    )
    if not found.incomplete:
        return text
    return (
        f"{text} For {found.incomplete:,} of them, the register lists fewer people than there are records: it omits "
        "people, and their risk is taken as certain."
    )
