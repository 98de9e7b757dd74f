"""Requests for extracts and their approval: the state machine as a table, and the port of whoever builds them.

    draft -> submitted -> in_review -> approved -> built -> released -> expired
                 ^            |                                  `----> revoked
                 |            +-> rejected
                 +- returned <-+

Who asks may withdraw until it is approved; a custodian may revoke from then on. What is not in `TABLE` cannot happen.

>>> TABLE["in_review", "approve"]
ApprovalRule(next='approved', who=frozenset({'reviewer'}))
>>> ("draft", "approve") in TABLE
False
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, get_args

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import LONGEST_TEXT, ExtractSpec, invalid
from querygate.core.extracts.use_agreement import UseAgreement, check_same
from querygate.core.types import Principal

State = Literal[
    "draft",
    "submitted",
    "in_review",
    "returned",
    "rejected",
    "withdrawn",
    "approved",
    "built",
    "released",
    "expired",
    "revoked",
]
Action = Literal[
    "edit",
    "submit",
    "take",
    "comment",
    "note",
    "approve",
    "return",
    "reject",
    "withdraw",
    "build",
    "release",
    "fetch",
    "revoke",
    "expire",
]
Who = Literal["requester", "reviewer", "custodian", "time"]
"""A reviewer has the right to review (core/rights.py) and did not make the request; `time` is nobody."""

STATES: tuple[State, ...] = get_args(State)
ACTIONS: tuple[Action, ...] = get_args(Action)
FINAL: frozenset[State] = frozenset({"rejected", "withdrawn", "expired", "revoked"})
EXPLAINED: frozenset[Action] = frozenset({"comment", "note", "return", "reject"})
"""Acts that say nothing without a comment."""

UNSEEN: frozenset[str] = frozenset({"note"})
"""Acts that whoever asked does not see: what reviewers say to each other."""

DECISIONS: frozenset[Action] = frozenset({"take", "approve", "return", "reject", "release"})
"""What reviewers do, in their own name: they prove it by their own key, at every door."""


class ApprovalRule(NamedTuple):
    """What an action leads to, and who may do it."""

    next: State
    who: frozenset[Who]


def _by(next_state: State, *who: Who) -> ApprovalRule:
    return ApprovalRule(next_state, frozenset(who))


TABLE: Mapping[tuple[State, Action], ApprovalRule] = {
    ("draft", "edit"): _by("draft", "requester"),
    ("draft", "submit"): _by("submitted", "requester"),
    ("draft", "withdraw"): _by("withdrawn", "requester"),
    ("submitted", "take"): _by("in_review", "reviewer"),
    ("submitted", "comment"): _by("submitted", "requester", "reviewer"),
    ("submitted", "note"): _by("submitted", "reviewer"),
    ("submitted", "withdraw"): _by("withdrawn", "requester"),
    ("in_review", "comment"): _by("in_review", "requester", "reviewer"),
    ("in_review", "note"): _by("in_review", "reviewer"),
    ("in_review", "approve"): _by("approved", "reviewer"),  # once there are enough: see `advance`
    ("in_review", "return"): _by("returned", "reviewer"),
    ("in_review", "reject"): _by("rejected", "reviewer"),
    ("in_review", "withdraw"): _by("withdrawn", "requester"),
    ("returned", "edit"): _by("returned", "requester"),
    ("returned", "comment"): _by("returned", "requester", "reviewer"),
    ("returned", "note"): _by("returned", "reviewer"),
    ("returned", "submit"): _by("submitted", "requester"),
    ("returned", "withdraw"): _by("withdrawn", "requester"),
    ("approved", "comment"): _by("approved", "requester", "reviewer"),
    ("approved", "note"): _by("approved", "reviewer"),
    ("approved", "build"): _by("built", "custodian"),
    ("approved", "revoke"): _by("revoked", "custodian"),
    ("built", "comment"): _by("built", "requester", "reviewer"),
    ("built", "note"): _by("built", "reviewer"),
    ("built", "build"): _by("built", "custodian"),
    ("built", "release"): _by("released", "reviewer"),  # what is let out was looked at by somebody else
    ("built", "revoke"): _by("revoked", "custodian"),
    ("released", "fetch"): _by("released", "requester", "custodian"),
    ("released", "revoke"): _by("revoked", "custodian"),
    ("released", "expire"): _by("expired", "time"),
}


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """A request as it stands. `summary` and `manifest` (its SHA-256) are of what was built last, `failure` is why the
    last build came to nothing. `beside_views`: those who approved it know that its records leave beside views.
    `agreement` is what they approved a limited data set under."""

    id: str
    number: int
    requester: str
    spec: ExtractSpec
    state: State
    created: str
    changed: str
    approvals: tuple[str, ...] = ()
    expires: str | None = None
    summary: Mapping[str, Any] | None = None
    manifest: str | None = None
    failure: str | None = None
    beside_views: bool = False
    agreement: UseAgreement | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One act on a request; those of a request are numbered from 1."""

    number: int
    time: str
    user: str | None  # None: the time did it
    action: str
    before: str | None
    after: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Who does what to a request. `details` go into the log beside the states; `by` is None for the time."""

    action: str
    by: Principal | None
    comment: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


# -- may this happen, may they ------------------------------------------------------------------------------------


def roles_of(by: Principal, request: ExtractRequest) -> frozenset[Who]:
    """What somebody is to a request.

    Nobody reviews their own request, whatever their role. Names count without regard to case, as accounts do.
    """
    is_own = by.name.lower() == request.requester.lower()
    found: set[Who] = {"requester"} if is_own else set()
    if by.may("review") and not is_own:
        found.add("reviewer")
    if by.may("build"):
        found.add("custodian")
    return frozenset(found)


def check_seen(by: Principal, request: ExtractRequest | None) -> ExtractRequest:
    """QG603 for whoever may not know of a request, in the words used where there is none."""
    if request is None or not roles_of(by, request):
        raise ExtractRefused(
            "QG603", "There is no request with this id, or you may not see it.", "List your requests to find the id."
        )
    return request


def check_act(request: ExtractRequest, action: Action, by: Principal) -> ApprovalRule:
    """The rule by which somebody may do this now: QG603, then QG601 or QG606 for the state, then QG602."""
    check_seen(by, request)
    rule = TABLE.get((request.state, action))
    if rule is None:
        if action == "fetch" and request.state in ("expired", "revoked"):
            raise ExtractRefused("QG606", f"The extract is {request.state}.", "Make a new request.")
        raise ExtractRefused(
            "QG601",
            f"'{action}' is not possible while the request is {said(request.state)}.",
            _remedy(possible(request, by)),
        )
    if not rule.who & roles_of(by, request):
        raise _not_theirs(action, rule.who)
    if action in DECISIONS and by.assumed:
        raise ExtractRefused(
            "QG602",
            f"'{action}' needs the reviewer's own key; --as, or access to the server, is not enough.",
            "Use --key-file FILE, or set QUERYGATE_KEY.",
        )
    if action == "approve" and _has_approved(by, request):
        raise ExtractRefused(
            "QG602", "You have already approved this request.", "A second reviewer must approve it too."
        )
    return rule


def possible(request: ExtractRequest, by: Principal) -> tuple[Action, ...]:
    """What somebody may do to a request now."""
    roles = roles_of(by, request)
    rules = {action: TABLE.get((request.state, action)) for action in ACTIONS}
    open_to_them = (action for action, rule in rules.items() if rule and rule.who & roles)
    return tuple(
        action
        for action in open_to_them
        if not (action == "approve" and _has_approved(by, request)) and not (action in DECISIONS and by.assumed)
    )


def _has_approved(by: Principal, request: ExtractRequest) -> bool:
    return by.name.lower() in {name.lower() for name in request.approvals}


def advance(
    request: ExtractRequest,
    action: Action,
    by: Principal,
    *,
    reviewers: int = 1,
    beside_views: bool = False,
    agreement: UseAgreement | None = None,
) -> ExtractRequest:
    """The request after an act. With two reviewers, the first approval leaves it in review; an edit voids approvals
    and what they acknowledged. What one did not acknowledge is not acknowledged; all approve under one agreement."""
    rule = check_act(request, action, by)
    if action == "edit":
        return replace(request, state=rule.next, approvals=(), beside_views=False, agreement=None)
    if action != "approve":
        return replace(request, state=rule.next)
    check_same(request.agreement, agreement)
    known = beside_views and (request.beside_views or not request.approvals)
    approvals = (*request.approvals, by.name)
    state = rule.next if len(approvals) >= reviewers else request.state
    return replace(request, approvals=approvals, beside_views=known, agreement=agreement, state=state)


def has_expired(request: ExtractRequest, now: str) -> bool:
    """Whether its time is over. Times are texts of fixed width, in UTC."""
    return request.state == "released" and request.expires is not None and request.expires <= now


def expired(request: ExtractRequest) -> ExtractRequest:
    """The request after its time."""
    return replace(request, state=TABLE[request.state, "expire"].next)


def check_comment(action: str, comment: str) -> str:
    """The comment, without space around it; QG604 where it is missing, too long or no text."""
    found = comment.strip()
    if len(found) > LONGEST_TEXT or "\0" in found or not is_text(found):
        raise invalid("comment", f"must be text of at most {LONGEST_TEXT:,} characters")
    if action in EXPLAINED and not found:
        raise invalid("comment", f"is missing; '{action}' needs one")
    return found


def is_text(found: str) -> bool:
    """Whether it can be kept and shown: JSON can bring in halves of surrogate pairs, which nothing else takes.

    >>> is_text("Zo\u00eb"), is_text("\\ud800")
    (True, False)
    """
    return not any("\ud800" <= character <= "\udfff" for character in found)


def said(state: str) -> str:
    """A state for a person.

    >>> said("in_review")
    'in review'
    """
    return state.replace("_", " ")


def _remedy(actions: tuple[Action, ...]) -> str:
    return f"You can now: {', '.join(actions)}." if actions else "There is nothing more you can do with this request."


# -- the port -------------------------------------------------------------------------------------------------------


class BuiltExtract(NamedTuple):
    """An extract that lies in the vault: what those who decide are told of it, and the SHA-256 of its manifest."""

    summary: Mapping[str, Any]
    manifest: str


class ExtractBuilder(Protocol):
    """Makes extracts, where the raw rows are."""

    def preview(self, spec: ExtractSpec, *, requester: str) -> Mapping[str, Any]:
        """Figures for a reviewer before approval, as JSON has them: method, parameters, risk, utility, the risk report
        (`assessment`, None where records are nobody's), and what those who ask have learnt from queries."""
        ...

    def risk_page(self, assessment: Mapping[str, Any]) -> bytes:
        """A risk report as a page."""
        ...

    def build(self, spec: ExtractSpec, folder: Path, *, request_id: str, requester: str) -> Mapping[str, Any]:
        """Write the files of an extract into an empty folder, `report.html` among them, and return a summary as JSON
        has it: `method`, and what a reviewer needs (k measured, records, risk, utility). `version` and `policy_hash`
        are those of the version served, unless it says otherwise. ExtractRefused QG605 where it cannot be."""
        ...


def _not_theirs(action: str, who: Collection[str]) -> ExtractRefused:
    whose = " or the ".join(sorted(set(who) - {"time"}))
    told = f"Only the {whose} can do this now: '{action}'." if whose else f"This happens automatically: '{action}'."
    if "requester" in who:
        return ExtractRefused("QG602", told, "If you are that person, say so on the command line with --as NAME.")
    if "reviewer" in who:
        return ExtractRefused("QG602", told, "Ask another reviewer: nobody reviews their own request.")
    return ExtractRefused("QG602", told, f"Ask a {whose} to do it." if whose else "Wait until it happens.")
