"""What the custodian's jobs need from the keeper of raw rows. A gate gets none of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

from querygate.core.derived_columns import DerivedColumn, EventCondition
from querygate.core.publications.coarse_parts import Parts
from querygate.core.types import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


class Source(Protocol):
    """Where raw data comes from."""

    def columns(self) -> tuple[str, ...]: ...

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        """The wanted columns as a stream of Arrow record batches."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """A context around every read of the stream: turns engine errors into coded errors that quote nothing."""
        ...


@runtime_checkable
class SelectiveSource(Protocol):
    """A source whose engine can leave rows out itself, so that they need not be read."""

    def selected(self, columns: Sequence[str], either: Sequence[EventCondition]) -> pa.RecordBatchReader:
        """As `batches`, with the rows of which at least one condition may be true; perhaps with others."""
        ...


@runtime_checkable
class IdentifiedSource(Protocol):
    """A source that can tell whether it has changed."""

    def identity(self) -> str:
        """Equal texts: equal rows."""
        ...


@dataclass(frozen=True, slots=True)
class AgeAt:
    """An age in whole years that a source is to have too: from the date in column `born` to that in column `at`, or to
    a day, written as 2024-12-31.
    """

    name: str
    born: str
    at: str = ""
    day: str = ""


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How to read a source: texts that mean a missing value, by column; ages to work out; of columns whose dates are
    written with slashes, whether the day or the month comes first; other spellings of values, by column and value; and
    of numbers that may be below or above a limit of detection, what such a value is read as. The column `person`
    holds keys of people.
    """

    absent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ages: tuple[AgeAt, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    spelled: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    censored: Mapping[str, str] = field(default_factory=dict)
    person: str = ""

    def of_table(self, join: JoinedTable) -> ReadAs:
        """The same of a joined table. What is derived of events is told to be written like the column it is taken from,
        and knows itself what stands for no value.
        """
        taken = {column.column: self.written[column.name] for column in join.derived if column.name in self.written}
        return replace(self, ages=(), written={**self.written, **taken})


AS_IT_IS = ReadAs()


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """A table whose columns the records of a source are to have too: (its column, the source's column) must be equal.

    An inner join leaves out records without a row in the table; otherwise its columns are missing there. Where columns
    are derived, the table has events, of which a record may have any number: each column is worked out from them.
    """

    name: str
    source: Source
    on: tuple[tuple[str, str], ...]
    columns: Mapping[str, str]  # name -> type
    inner: bool = False
    derived: tuple[DerivedColumn, ...] = ()
    time: str = ""  # the column of events that says when they were
    of_source: bool = False  # the source itself holds the events: a record is made of each key that it has

    @property
    def label(self) -> str:
        """The table of the policy that it comes from."""
        return f"{'events' if self.derived else 'join'}.{self.name}"


@dataclass(frozen=True, slots=True)
class Profile:
    """Distinct values of a raw column, in rising order, how often each occurs, and how many are missing."""

    values: Array  # int64, float64 or text
    counts: Ints
    missing: int


@dataclass(frozen=True, slots=True)
class ValueCount:
    """How many rows have a value of a column, and how many different ones there are."""

    known: int
    distinct: int


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column by record, in the order of rows: numbers and days, or of texts their places in `texts`, which are in
    order. Where it is missing the value is anything.
    """

    values: Array
    missing: Bools
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeTexts:
    """Which record (or visit) has which text in its list of codes: pairs, each once, in order. Texts are as the source
    has them, without spaces around them; what is missing or empty is not there.
    """

    texts: tuple[str, ...]
    record: Ints
    text: Ints


@dataclass(frozen=True, slots=True)
class Combinations:
    """Distinct combinations of quasi-identifier codes (-1 is missing) with their number of records.

    `low` and `high` give, for each sensitive number asked for, the smallest and largest raw value of the combination
    (NaN if all are missing), `low_code` and `high_code` those of its codes (-1 is missing).
    """

    codes: Mapping[str, Ints]
    counts: Ints
    low: Mapping[str, Floats]
    high: Mapping[str, Floats]
    low_code: Mapping[str, Ints]
    high_code: Mapping[str, Ints]


# -- staging tables: a version in the making, in the vault ---------------------------------------------------------


class CountedValues(Protocol):
    """Values of loaded rows."""

    def count_values(self, columns: Iterable[str]) -> Mapping[str, ValueCount]: ...

    def count_missing(self, columns: Sequence[str]) -> Mapping[str, int]:
        """How many rows miss each of these columns."""
        ...

    def profile(self, column: str) -> Profile: ...


class LoadedRows(CountedValues, Protocol):
    """Raw rows of a version in the making, read and coded."""

    @property
    def matched(self) -> Mapping[str, int]:
        """How many records of the source have a row in each joined table."""
        ...

    def load(
        self,
        source: Source,
        columns: Mapping[str, str],
        joins: Sequence[JoinedTable] = (),
        read_as: ReadAs = AS_IT_IS,
    ) -> int:
        """Read the columns (name -> type) from the source and from the tables joined to it, typed; return the number
        of rows. A table with several rows for one key is refused: they would count a record more than once.
        """
        ...

    def count_source_values(self, source: Source, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        """As `count_values`, of columns that are not read into the vault, from the source."""
        ...

    def people_by_value(self, column: str, person: str) -> tuple[Ints, Floats]:
        """How many people have each value of a column, in rising order; and shares of people, each of whom is divided
        between the values they have: over several values these add up to no more people than have one of them.
        """
        ...

    def replace_values(self, column: str, values: Array, by: str) -> None:
        """Put one text in place of these values of a category, in the rows themselves."""
        ...

    def add_flag(self, column: str, flags: Bools) -> None:
        """One more column of the rows, true or false of each record in the order of rows."""
        ...

    def set_codes(self, column: str, values: Array, codes: Ints) -> None:
        """Give each distinct value of a column its code; a missing value has code -1."""
        ...

    def keep_policy(self, text: str) -> None:
        """Keep what the rows were published under with them."""
        ...

    def close(self) -> None:
        """Keep the rows and each row's class; drop what only the making needed."""
        ...


class ListedCodes(Protocol):
    """Lists of codes of the loaded rows, by record."""

    def code_texts(self, column: str, separator: str) -> CodeTexts:
        """The lists of codes of a column, of records numbered in the order of their rows. Where there is a separator,
        each text is taken apart by it.
        """
        ...

    def visit_texts(self, column: str, separator: str, between: str) -> CodeTexts:
        """The same of visits, numbered in any order; `between` separates visits, where they are written as one text."""
        ...

    def set_record_codes(self, column: str, codes: Ints) -> None:
        """Give the list of each record its code, in the same order."""
        ...

    def record_codes(self, column: str) -> Ints:
        """The code of each record's list, in the same order."""
        ...

    def record_classes(self) -> Ints:
        """The class of each record, in the same order; -1 where it has none."""
        ...


class CodedCombinations(Protocol):
    """Combinations of coded quasi-identifiers, of a whole table or of a part of it."""

    def combinations(
        self, *, by_record: bool = False, parts: Parts = 0, part: int = 0, classes: range | None = None
    ) -> Combinations:
        """The distinct combinations, in rising order, of all records or of those of one part, or once there are classes
        of some of these; or each record by itself, in the order of its codes, and always the same order.
        """
        ...

    def counts_by_combination(self, column: str) -> tuple[Ints, Ints, Ints]:
        """(combination, code, records) of a coded column, in the order of the last `combinations` or `each_part`."""
        ...


class ClassAssignment(CodedCombinations, Protocol):
    """Combinations of coded quasi-identifiers, and the class of each."""

    @property
    def room_bytes(self) -> int:
        """Memory that is left for arrays, beside what the engine uses itself."""
        ...

    def prepare(self, quasi: Sequence[str], sensitive: Sequence[str]) -> None:
        """Once all codes are set: make ready to combine these quasi-identifiers, and to tell the numbers' extremes."""
        ...

    def record_rows(self) -> Ints:
        """Of each record, in the order of combinations by record, its place in the order of rows."""
        ...

    def each_part(self, parts: Parts) -> Combinations:
        """Every part as if it were one combination, in the order of their numbers, without codes."""
        ...

    def count_codes(self, column: str, parts: Parts) -> tuple[Ints, Ints, Ints]:
        """(part, code, records) of a coded column."""
        ...

    def count_combinations(self, parts: Parts) -> Mapping[int, int]:
        """How many distinct combinations each part has."""
        ...

    def add_classes(self, classes: Ints) -> None:
        """The class of each of the combinations last told; -1 where its records are left out."""
        ...

    def seal_classes(self) -> None:
        """Every record has its class."""
        ...

    def forget_classes(self) -> None:
        """Before the records are divided anew: as it was when all codes were set."""
        ...

    def carry_nothing(self) -> None:
        """All records are divided, also those that were to stay in classes of an earlier version."""
        ...


class ClassedRows(Protocol):
    """What a class holds, as whoever publishes it needs it."""

    def class_codes(self, column: str) -> tuple[Ints, Ints, Ints]:
        """Least and greatest code (-1 where all miss it) of a coded column in each class, and how many miss it."""
        ...

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]:
        """(class, code of each column, records) of every distinct combination of class and codes."""
        ...

    def members(self, columns: Sequence[str], coded: Sequence[str] = ()) -> pa.Table:
        """The class, the raw values of some columns and the codes of others, of every record that has a class: a
        table in an order that follows from these alone.
        """
        ...


class VerifierCounts(Protocol):
    """Raw rows beside what was published of them: counted, not taken from whoever made the classes."""

    def intervals_off(self, column: str, classes: Ints, low: Array, high: Array, null: Array, counts: Ints) -> int:
        """How many published (class, interval) hold another number of raw rows than was published.

        Cells are given as (class, low, high, null state, records); intervals of one class do not overlap.
        """
        ...

    def sets_off(
        self, column: str, classes: Ints, sets: Ints, counts: Ints, members: tuple[Ints, Ints], texts: Sequence[str]
    ) -> int:
        """How many published (class, set) hold another number of raw rows than was published.

        Cells are (class, set id, records); `members` are (set id, value id) pairs, value id -1 is a missing value.
        """
        ...

    def class_values(self, column: str) -> tuple[Ints, Array, Ints]:
        """(class, value, records) of a number, in rising order of class and value; missing values are left out."""
        ...

    def class_hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        """(class, smallest, largest raw value) of each class; NaN where all values are missing."""
        ...

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"]
    ) -> tuple[Ints, Mapping[str, Array], Ints]:
        """(combination or class, raw values of each column, records) of everything that occurs, in rising order.

        Numbers and days are floats, NaN where missing; texts are objects, None where missing.
        """
        ...


class SomeClasses(VerifierCounts, Protocol):
    """Some of the classes, few enough to be held in memory. All is told of these alone, by the same numbers."""

    def class_codes(self, column: str) -> tuple[Ints, Ints, Ints]: ...

    def cells(self, columns: Sequence[str]) -> tuple[Ints, Mapping[str, Ints], Ints]: ...


@runtime_checkable
class ClassRanges(Protocol):
    """Staging tables that can tell of some classes at a time, so that memory need not hold them all."""

    def class_sizes(self) -> Ints:
        """How many records each class has, in the order of their numbers."""
        ...

    def of_classes(self, classes: range) -> SomeClasses: ...


class VerifierTables(CountedValues, ListedCodes, VerifierCounts, Protocol):
    """All that the verifier asks of raw rows."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def raw_column(self, column: str) -> RawColumn: ...


class StagingTables(LoadedRows, ClassAssignment, ClassedRows, VerifierTables, Protocol):
    """All of it. It lives in the vault and is given to publishers only."""


@runtime_checkable
class PartDivision(Protocol):
    """Staging tables whose engine has parts divided by its own workers, where the rows are."""

    def divide_parts(self, parts: Parts, work: Callable[[CodedCombinations], tuple[Ints, T]]) -> Sequence[T]:
        """Divide every part, and keep the class of its records. What `work` leaves of each part, from left to right: it
        returns the class of each combination of one part, counted from 0, and whatever its caller wants of it. A worker
        runs it, so it and what it returns are sent there and back.
        """
        ...
