"""What the custodian may choose about a scrubbed column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tags = Literal["keyed", "numbered", "kind", "natural"]
Dates = Literal["year", "shift", "tag"]


@dataclass(frozen=True, slots=True)
class ScrubOptions:
    """How identifiers are replaced, and how much is taken for one.

    - `tags`: `keyed` gives `[NAME:5f0a92c4]`, the same for the same value in the whole extract; `numbered` gives
      `[NAME-1]`, the same within one note; `kind` gives `[NAME]`; `natural` gives another name, place or number of the
      same form, the same for the same value in the notes of one person, and a tag where none can be made.
    - `dates`: `year` keeps the year alone, as Safe Harbor; `shift` moves all dates of one person by the same number of
      days, so that intervals stay (this is not Safe Harbor); `tag` keeps nothing.
    - `most_days`: dates are shifted by 1 to this many days, earlier.
    - `earliest_year`: years before it reveal an age over 89 and are replaced even when they stand alone.
    - `unknown_words`: capitalised words that no dictionary knows are taken for names. More is found and more is lost.
    - `weekdays`: days of the week and holidays are dates too.
    """

    tags: Tags = "keyed"
    dates: Dates = "year"
    most_days: int = 365
    earliest_year: int | None = None
    unknown_words: bool = True
    weekdays: bool = True

    def __post_init__(self) -> None:
        if self.tags not in ("keyed", "numbered", "kind", "natural"):
            raise ValueError("tags are keyed, numbered, kind or natural")
        if self.dates not in ("year", "shift", "tag"):
            raise ValueError("dates become year, shift or tag")
        if not 1 <= self.most_days <= 3650:
            raise ValueError("dates are shifted by at most 1 to 3,650 days")
