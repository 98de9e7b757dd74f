"""Every error of the product, and one table that says what each code means at every front door.

QueryGateError
├─ Refusal                 expected; code, detail, remedy, suggestion, span; safe to show to anyone
│  ├─ SyntaxRefused  QG1xx   the text is not one statement we can read
│  ├─ UnsupportedSQL QG2xx   readable, but outside what can be bounded; decided from SQL and schema alone
│  ├─ NotPermitted   QG3xx   this person, this request, these limits
│  ├─ BudgetExhausted QG4xx  no privacy budget left, or none that can be relied on
│  ├─ DisclosureRefused QG5xx fixed wording; decided only from what the researcher could already compute
│  └─ ExtractRefused QG6xx   an extract, or an act on a request for one, that cannot be
├─ ConfigError       QG8xx   a custodian's file or source is wrong; names the file, the key and what is accepted
└─ Fault             QG900   unexpected; the user sees an incident id, the custodian's log has the rest

What happened and what to do instead are worded where an error is raised; the texts of /docs/refusals are in
web/refusal_explanations.py.

No error carries a raw value: engine messages are never passed on, and texts name columns and keys only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from querygate.core.json_body import JsonValue


class Code(NamedTuple):
    """What one error code means at each front door."""

    title: str
    status: int  # HTTP
    sqlstate: str  # PostgreSQL wire
    exit: int  # command line: 1 refusal, 2 usage, 3 fault


CODES: dict[str, Code] = {
    "QG101": Code("The statement cannot be read", 422, "42601", 1),
    "QG102": Code("The statement is too long", 422, "54001", 1),
    "QG103": Code("The statement is nested too deeply", 422, "54001", 1),
    "QG104": Code("Only one statement at a time", 422, "42601", 1),
    "QG201": Code("Rows are never shown, only aggregates", 422, "0A000", 1),
    "QG202": Code("Only SELECT is accepted", 422, "0A000", 1),
    "QG203": Code("Unknown column", 422, "42703", 1),
    "QG204": Code("Function not available", 422, "42883", 1),
    "QG205": Code("FROM must name the dataset only", 422, "0A000", 1),
    "QG206": Code("Clause not available", 422, "0A000", 1),
    "QG207": Code("Expression not available here", 422, "0A000", 1),
    "QG208": Code("Condition not available", 422, "0A000", 1),
    "QG209": Code("Types do not match", 422, "42804", 1),
    "QG210": Code("Cannot group by this", 422, "42803", 1),
    "QG211": Code("Column must be grouped or aggregated", 422, "42803", 1),
    "QG212": Code("Too many groups", 422, "54000", 1),
    "QG214": Code("Cannot order by this", 422, "42P10", 1),
    "QG215": Code("The result cannot be bounded", 422, "22003", 1),
    "QG216": Code("Not possible with noise", 422, "0A000", 1),
    "QG217": Code("These columns are not published together", 422, "0A000", 1),
    "QG218": Code("The model is not valid", 422, "42601", 1),
    "QG219": Code("The model cannot be bounded", 422, "22003", 1),
    "QG301": Code("Not signed in", 401, "28000", 1),
    "QG302": Code("Not allowed", 403, "42501", 1),
    "QG303": Code("No such dataset", 404, "3D000", 1),
    "QG304": Code("No such answer", 404, "02000", 1),
    "QG305": Code("The time or memory limit was exceeded", 503, "57014", 1),
    "QG306": Code("The request is not valid", 400, "08P01", 1),
    "QG307": Code("No such page", 404, "02000", 1),
    "QG308": Code("The request is too large", 413, "54000", 1),
    "QG309": Code("Only the custodian can do this, outside the gate", 409, "55000", 1),
    "QG310": Code("This gate has no access to the raw rows", 409, "55000", 1),
    "QG311": Code("This dataset does not answer in this mode", 422, "0A000", 1),
    "QG312": Code("The dataset was withdrawn", 410, "55000", 1),
    "QG313": Code("Your grant does not cover this mode", 403, "42501", 1),
    "QG314": Code("No worker is available", 503, "57014", 1),
    "QG315": Code("The job was cancelled", 409, "57014", 1),
    "QG316": Code("No such job", 404, "02000", 1),
    "QG317": Code("Too many attempts", 429, "28000", 1),
    "QG318": Code("Usage limit reached", 429, "53400", 1),
    "QG319": Code("The sign-in was not completed", 401, "28000", 1),
    "QG320": Code("The single sign-on provider cannot be reached", 503, "08001", 1),
    "QG321": Code("No account for this sign-in", 403, "28000", 1),
    "QG322": Code("Single sign-on is not set up here", 404, "0A000", 1),
    "QG323": Code("The code has expired", 410, "28000", 1),
    "QG324": Code("No such saved query or notebook", 404, "02000", 1),
    "QG325": Code("The same request is still being answered", 409, "55P03", 1),
    "QG401": Code("Not enough privacy budget", 403, "53400", 1),
    "QG402": Code("The budget ledger does not match the log", 503, "XX001", 1),
    "QG501": Code("The answer could single people out", 403, "42501", 1),
    "QG601": Code("Not possible at this stage of the request", 409, "55000", 1),
    "QG602": Code("You are not allowed to do this with the request", 403, "42501", 1),
    "QG603": Code("No such request", 404, "02000", 1),
    "QG604": Code("The extract request is not valid", 422, "22023", 1),
    "QG605": Code("The extract cannot be made", 422, "22023", 1),
    "QG606": Code("The extract is no longer available", 410, "55000", 1),
    "QG607": Code("The extract does not match what was built", 409, "XX001", 1),
    "QG608": Code("This dataset is published as views: an extract needs extra approval", 409, "55000", 1),
    "QG609": Code("A limited data set needs a data use agreement", 409, "55000", 1),
    "QG801": Code("The policy is not valid", 422, "F0000", 2),
    "QG802": Code("The source cannot be read", 422, "58030", 2),
    "QG803": Code("The publication would not meet its privacy guarantees", 422, "F0000", 1),
    "QG804": Code("The site is not ready", 422, "F0000", 2),
    "QG805": Code("The settings are not valid", 422, "F0000", 2),
    "QG806": Code("This name, choice or date is not accepted", 422, "F0000", 2),
    "QG807": Code("The site was restored from an older copy", 422, "F0000", 2),
    "QG808": Code("No such user, key or grant", 404, "F0000", 2),
    "QG809": Code("The site would have no custodian", 409, "F0000", 2),
    "QG900": Code("Internal error", 500, "XX000", 3),
}


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the statement: line and column count from 1."""

    line: int
    column: int
    length: int = 1


class QueryGateError(Exception):
    """Root of the tree. `detail` says what, `remedy` says what to do instead."""

    family: ClassVar[str] = "QG"

    def __init__(
        self,
        code: str,
        detail: str,
        remedy: str = "",
        *,
        suggestion: str | None = None,
        span: Span | None = None,
    ) -> None:
        if code not in CODES or not code.startswith(self.family):
            raise ValueError(f"{code} is not a code of {type(self).__name__}")
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.remedy = remedy
        self.suggestion = suggestion
        self.span = span
        self.query_id: str | None = None  # set where the request had reached the log
        self.retry_after_s: float | None = None  # set where it may be tried again later

    @property
    def meaning(self) -> Code:
        return CODES[self.code]

    def to_dict(self) -> dict[str, JsonValue]:
        """The problem+json fields, the same at every front door."""
        body: dict[str, JsonValue] = {
            "type": f"/docs/refusals#{self.code}",
            "title": self.meaning.title,
            "status": self.meaning.status,
            "code": self.code,
            "detail": self.detail,
        }
        if self.remedy:
            body["remedy"] = self.remedy
        if self.suggestion:
            body["suggestion"] = self.suggestion
        if self.span:
            body["span"] = {
                "line": self.span.line,
                "column": self.span.column,
                "length": self.span.length,
            }
        if self.query_id:
            body["query_id"] = self.query_id
        return body


class Refusal(QueryGateError):
    """The gate refuses, and says what it would accept instead."""


class SyntaxRefused(Refusal):
    family = "QG1"


class UnsupportedSQL(Refusal):
    family = "QG2"


class NotPermitted(Refusal):
    family = "QG3"


class BudgetExhausted(Refusal):
    family = "QG4"


class DisclosureRefused(Refusal):
    family = "QG5"


class ExtractRefused(Refusal):
    family = "QG6"


class ConfigError(QueryGateError):
    """A custodian's file or source is wrong. The detail names the file, the key and what is accepted."""

    family = "QG8"


class Fault(QueryGateError):
    """Unexpected. The detail shown is fixed; with `incident` the custodian can find the rest."""

    family = "QG9"

    def __init__(self, incident: str) -> None:
        super().__init__(
            "QG900",
            f"The gate failed while handling this request (incident {incident}).",
            "Give the custodian the incident number. No data was disclosed.",
        )
        self.incident = incident
