"""Free-text columns without the identifiers of the Safe Harbor rule (45 CFR 164.514(b)(2)).

Rules, dictionaries and the file's own identifier columns find names, places, dates, ages over 89 and numbers; equal
values get equal replacements in one extract. No list finds every name that a person can have: how much is found is
measured on annotated notes, and only what stands in an identifier column is promised to be gone.

>>> scrubber = Scrubber(b"a secret of the extract", options=ScrubOptions(tags="kind"))
>>> scrubber.scrub("Seen by Dr. Wells on 3/12/2098; lives at 12 Main St, Apt 4, Springfield, IL 62701.").text
'Seen by Dr. [NAME] on 2098; lives at [PLACE].'
"""

from __future__ import annotations

from querygate.methods.notes.finders import Finder
from querygate.methods.notes.plausibility import PlausibleColumn, TermHierarchy, explain_plausible, generalise_column
from querygate.methods.notes.scrub import ScrubbedColumn, Scrubber, explain_scrubbed
from querygate.methods.notes.scrub_options import ScrubOptions
from querygate.methods.notes.spans import IdentifierKind

__all__ = [
    # what is found
    "Finder",
    "IdentifierKind",
    # notes and columns without it
    "ScrubOptions",
    "Scrubber",
    "ScrubbedColumn",
    "explain_scrubbed",
    # terms made more general
    "TermHierarchy",
    "PlausibleColumn",
    "generalise_column",
    "explain_plausible",
]
