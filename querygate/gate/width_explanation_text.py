"""An explanation of width as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from querygate.core.answer_bodies import CauseBody, ExplanationBody, SharperBody, StraddleBody
from querygate.core.count_text import counted

CUT_SHORT = "There was not enough time to try every similar query."
NOTHING = "No similar query has a narrower range"
FEW_TIMES = "No similar query has a range five times narrower"
SHARP = 5.0


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
    if any(column["causes"] for column in told["columns"]) and not any(map(_is_sharp, told["suggestions"])):
        yield f"{FEW_TIMES if told['suggestions'] else NOTHING}{_why_none(told)}."
    if not told["complete"]:
        yield CUT_SHORT


def _is_sharp(suggestion: SharperBody) -> bool:
    return suggestion["exact"] or (suggestion["narrower"] or 0.0) >= SHARP


def _why_none(told: ExplanationBody) -> str:
    """What no change of the query makes narrower: how values are published, or few records in each combination."""
    if not told["complete"]:
        return " among those tried"
    if told.get("apart"):
        return f", because no view has {', '.join(told['apart'][0])} together"
    left = {cause["column"] for column in told["columns"] for cause in column["causes"] if cause["part"] == "ranges"}
    if left:
        return f", because values of {', '.join(sorted(left))} are published as ranges"
    return ", because few records are in each combination of the columns that it names"


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
