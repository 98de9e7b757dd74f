"""The guided tour of the demo study: a differencing attack, made by the researcher in one window, and found, explained
and resolved by the custodian in another. Each of them has steps of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from querygate.core.types import Principal

FIRST = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 50"
SECOND = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 51"


@dataclass(frozen=True, slots=True)
class TourStep:
    """What to look at, what to do there, and where that is; no address where it is wherever one happens to be."""

    title: str
    text: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class TourStrip:
    """The tour as a page shows it: a step with its number, or an invitation where there is none."""

    text: str
    title: str = ""
    number: int | None = None
    of: int = 0
    next: int | None = None


def _editor(sql: str) -> str:
    return f"/datasets/clinic?sql={quote(sql)}"


RESEARCHER: Final = (
    TourStep(
        "Ask for a mean",
        "The clinic has eleven patients, and you know that one of them is 51. The statement asks for the mean blood "
        "pressure of everyone up to 50. Choose Run.",
        _editor(FIRST),
    ),
    TourStep(
        "Ask again, with one more person",
        "Now the statement goes up to 51, so it includes the 51-year-old. Choose Run. With exact answers you could "
        "subtract: eleven times this mean, minus ten times the other, is that person's blood pressure.",
        _editor(SECOND),
    ),
    TourStep(
        "Try the subtraction",
        "You have two ranges, not two numbers. For that one person they leave open almost every possible blood "
        "pressure. Your history keeps both questions, and so does the custodian's log.",
        "/history",
    ),
    TourStep(
        "Change sides",
        "Open this address in a private window and sign in with the custodian's key. The tour continues there.",
    ),
)

CUSTODIAN: Final = (
    TourStep(
        "See what is going on",
        "Two questions were asked about the clinic. This page counts them, and shows what needs attention.",
        "/today",
    ),
    TourStep(
        "Audit the log",
        "An audit combines all the answers that someone received and looks for people who are singled out. Choose "
        "Audit the log now, and wait for the case to appear.",
        "/audits/clinic",
    ),
    TourStep(
        "Read the case",
        "Open the case of ada; the case of demo comes from setting up the demo. It shows both questions with the "
        "difference marked, who is singled out, and the arithmetic. Choose Unmask to see what the answers leave open.",
    ),
    TourStep(
        "Resolve it",
        "Write what you found out in the note, and choose Resolve. The log keeps what you did, under your name.",
    ),
    TourStep(
        "See the record",
        "Every question, every answer and everything you just did is an entry here. Each entry carries the fingerprint "
        "of the one before, so none can be changed unnoticed.",
        "/log",
    ),
)


def steps_of(principal: Principal) -> tuple[TourStep, ...]:
    """The tour of those who look after a site, or of those who ask."""
    return CUSTODIAN if principal.may("audit") else RESEARCHER if principal.may("ask") else ()
