"""Free-text columns without the identifiers of the Safe Harbor rule (45 CFR 164.514(b)(2)).

Rules, dictionaries and the file's own identifier columns find names, places, dates, ages over 89 and numbers; equal
values get equal replacements in one extract. No list finds every name that a person can have: how much is found is
measured on annotated notes, and only what stands in an identifier column is promised to be gone.

>>> scrubber = Scrubber(b"a secret of the extract", options=ScrubOptions(tags="kind"))
>>> scrubber.scrub("Seen by Dr. Wells on 3/12/2098; lives at 12 Main St, Apt 4, Springfield, IL 62701.").text
'Seen by Dr. [NAME] on 2098; lives at [PLACE].'
"""

from __future__ import annotations

from querygate.methods.notes.detection_score import Annotation, Score, explain_scores, score
from querygate.methods.notes.plausibility import (
    Plausible,
    PlausibleColumn,
    TermHierarchy,
    Unreachable,
    explain_plausible,
    generalise_column,
    generalise_terms,
)
from querygate.methods.notes.scrub import ScrubbedColumn, ScrubbedNote, Scrubber, explain_scrubbed, scrub_column
from querygate.methods.notes.scrub_options import ScrubOptions
from querygate.methods.notes.spans import SAFE_HARBOR, IdentifierKind, TextSpan

__all__ = [
    # what is found
    "SAFE_HARBOR",
    "IdentifierKind",
    "TextSpan",
    # notes and columns without it
    "ScrubOptions",
    "Scrubber",
    "ScrubbedNote",
    "ScrubbedColumn",
    "scrub_column",
    "explain_scrubbed",
    # terms made more general
    "TermHierarchy",
    "Plausible",
    "PlausibleColumn",
    "Unreachable",
    "generalise_terms",
    "generalise_column",
    "explain_plausible",
    # how well
    "Annotation",
    "Score",
    "score",
    "explain_scores",
]
