"""An explanation of width as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from querygate.core.answer_bodies import CauseBody, ExplanationBody, SharperBody, StraddleBody
from querygate.core.count_text import counted

CUT_SHORT = "There was not enough time to try every similar query."
NOTHING = "No similar query with a narrower range was found."


def explanation_lines(told: ExplanationBody) -> Iterator[str]:
    """Causes, what straddles, and what to ask instead; an indented line belongs to the one above it."""
    if "withheld" in told:
        yield from (f"{column['name']} is {column['width']} wide." for column in told["columns"])
        yield told["withheld"]
        return
    for column in told["columns"]:
        if not column["causes"]:
            yield f"{column['name']} is exact."
            continue
        yield f"{column['name']} is {column['width']} wide:"
        yield from (f"  {_cause_text(cause)}" for cause in column["causes"])
    for names in told.get("apart", ()):
        yield f"No view has {', '.join(names)} together."
    if told["straddling"]:
        yield "Records that may or may not be selected:"
        yield from (f"  {_straddle_text(found)}" for found in told["straddling"])
    if told["suggestions"]:
        yield "Narrower queries:"
        for suggestion in told["suggestions"]:
            yield f"  {suggestion['sql']}"
            yield f"    {_gain_text(suggestion)}: {'; '.join(suggestion['changes'])}"
    elif any(column["causes"] for column in told["columns"]):
        yield NOTHING
    if not told["complete"]:
        yield CUT_SHORT


def _cause_text(cause: CauseBody) -> str:
    share = "" if cause["share"] is None else f" ({cause['share']:.0%})"
    return f"{cause['width']}{share} {_part_text(cause['part'], cause['at'], cause['column'])}"


def _part_text(part: str, at: str, column: str) -> str:
    if part in ("low", "high"):
        return f"at the {part} end of {at}"
    if part in ("values", "condition"):
        return f"by {at}"
    if part == "key":
        return f"by groups of {at}"
    return f"because values of {column} are published as ranges" if part == "ranges" else "for other reasons"


def _straddle_text(found: StraddleBody) -> str:
    largest = "; ".join(f"{one['range']}: {one['records']:,}" for one in found["largest"])
    more = "" if found["ranges"] <= len(found["largest"]) else "; ..."
    where = _part_text(found["part"], found["at"], found["column"])
    shown = f" ({largest}{more})" if largest else ""
    return f"{counted(found['records'], 'record')} {where}, in {counted(found['ranges'], 'range')}{shown}"


def _gain_text(suggestion: SharperBody) -> str:
    if suggestion["exact"]:
        return "exact"
    widths = ", ".join(f"{name} {width}" for name, width in suggestion["widths"].items())
    narrower = "" if suggestion["narrower"] is None else f", {suggestion['narrower']:g} times narrower"
    return f"width {widths}{narrower}"
