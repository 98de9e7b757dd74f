"""What takes something away asks twice: a page that says what happens, and where the answer goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response, request

from querygate.control.sessions import Session
from querygate.web.console.page import make_page

SUSPENDED = (
    "Their keys stop working and their sessions end at once. Their queries stay in the log. The account can be opened "
    "again."
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what goes along with the answer."""

    title: str
    text: str
    yes: str
    address: str
    back: str
    form: Mapping[str, str]


def ask_first(session: Session, title: str, text: str, yes: str, back: str, **form: str) -> Response | None:
    """The page that asks whether somebody is sure; None where they said so. `form` goes along."""
    if request.form.get("sure") == "yes":
        return None
    question = Question(title, text, yes, request.path, back, form)
    return make_page("confirm.html", session=session, question=question)
