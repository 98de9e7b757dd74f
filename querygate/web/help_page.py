"""Which page of the documentation helps with a refusal: one click away from the error, in the console and the API."""

from __future__ import annotations

from typing import Final, NamedTuple


class HelpPage(NamedTuple):
    """A page of the gate's own documentation, and what a link to it says."""

    address: str
    title: str


_SQL: Final = HelpPage("/docs/reference/sql", "The SQL that is accepted")
_ACCESS: Final = HelpPage("/docs/how-to/grant-access", "Who may ask what")
_HTTP: Final = HelpPage("/docs/reference/http", "The HTTP interface")
_SITE: Final = HelpPage("/docs/how-to/deploy", "Run the gate")

# The longest beginning of a code counts.
_PAGES: Final = {
    "QG1": _SQL,
    "QG2": _SQL,
    "QG218": HelpPage("/docs/how-to/fit-a-model", "Fit a model"),
    "QG219": HelpPage("/docs/how-to/fit-a-model", "Fit a model"),
    "QG3": _ACCESS,
    "QG305": HelpPage("/docs/reference/settings", "Settings, such as the limits of a query"),
    "QG306": _HTTP,
    "QG307": _HTTP,
    "QG308": _HTTP,
    "QG310": _SITE,
    "QG311": HelpPage("/docs/how-to/answer-with-noise", "Answers with noise"),
    "QG314": HelpPage("/docs/how-to/answer-with-noise", "Answers with noise"),
    "QG315": _HTTP,
    "QG316": _HTTP,
    "QG317": HelpPage("/docs/reference/settings", "Settings, such as the limits of users"),
    "QG32": HelpPage("/docs/how-to/single-sign-on", "Single sign-on"),
    "QG4": HelpPage("/docs/how-to/answer-with-noise", "Answers with noise, and their budget"),
    "QG5": HelpPage("/docs/explanation/auditing", "How the auditor works"),
    "QG6": HelpPage("/docs/how-to/request-an-extract", "Request an extract"),
    "QG8": _SITE,
    "QG801": HelpPage("/docs/reference/policy", "The policy file"),
    "QG803": HelpPage("/docs/how-to/write-a-policy", "Write a policy"),
    "QG805": HelpPage("/docs/reference/settings", "Settings"),
    "QG808": _ACCESS,
    "QG809": _ACCESS,
    "QG9": _SITE,
}


def help_page(code: str) -> HelpPage:
    """The page that helps with an error of this code.

    >>> help_page("QG204").address, help_page("QG219").address
    ('/docs/reference/sql', '/docs/how-to/fit-a-model')
    """
    return next(_PAGES[code[:length]] for length in range(len(code), 2, -1) if code[:length] in _PAGES)
