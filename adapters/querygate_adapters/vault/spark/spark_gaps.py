"""What a publication inside Spark does not offer, and why: each is refused with what to do instead.

Most of it would bring single records to this process, in their order. Policies that need it are refused before anything
is read (`querygate/custody/publish/spark_policies.py`); this is what stands behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

from querygate.core.errors import ConfigError
from querygate.core.publications.coarse_parts import Parts
from querygate.core.publications.vault_ports import CodeTexts, Combinations, RawColumn
from querygate.core.types import Array, Bools, Floats, Ints


def refused(what: str) -> NoReturn:
    raise ConfigError(
        "QG803",
        f"A vault in Spark cannot publish this: {what}.",
        "Leave out --vault: the same source is then published in the site's own vault.",
    )


class SparkGaps:
    """The methods of staging tables that have no place in Spark."""

    def people_by_value(self, column: str, person: str) -> tuple[Ints, Floats]:
        refused("people have several rows")

    def replace_values(self, column: str, values: Array, by: str) -> None:
        refused("rare values are put into a group")

    def add_flag(self, column: str, flags: Bools) -> None:
        refused("groups of codes are flagged record by record")

    def code_texts(self, column: str, separator: str) -> CodeTexts:
        refused("there are lists of codes")

    def visit_texts(self, column: str, separator: str, between: str) -> CodeTexts:
        refused("there are lists of codes")

    def set_record_codes(self, column: str, codes: Ints) -> None:
        refused("there are lists of codes")

    def record_codes(self, column: str) -> Ints:
        refused("there are lists of codes")

    def record_classes(self) -> Ints:
        refused("classes are needed record by record")

    def record_rows(self) -> Ints:
        refused("classes are made of single records")

    def combinations(
        self, *, by_record: bool = False, parts: Parts = 0, part: int = 0, classes: range | None = None
    ) -> Combinations:
        refused("classes are made of the whole table at once")

    def add_classes(self, classes: Ints) -> None:
        refused("classes are made of the whole table at once")

    def carry_nothing(self) -> None:
        refused("classes of an earlier version are taken over")

    def members(self, columns: Sequence[str], coded: Sequence[str] = ()) -> Any:
        refused("raw values are needed record by record")

    def class_values(self, column: str) -> tuple[Ints, Array, Ints]:
        refused("moments of classes need every value of a number")

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"]
    ) -> tuple[Ints, dict[str, Array], Ints]:
        refused("a guarantee is measured on raw values")

    def raw_column(self, column: str) -> RawColumn:
        refused("raw values are needed record by record")
