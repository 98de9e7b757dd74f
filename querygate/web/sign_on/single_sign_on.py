"""Single sign-on from end to end: a browser sets out for the provider, comes back, and somebody is let in or not.

Whoever fails is on record with their address, as for keys; whom the provider vouches for and the gate does not let in
is on record by issuer and subject, so that an admin can link an account. No code and no token is in any log.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from querygate.control.ids import stamp
from querygate.control.keys.keys import NewKey
from querygate.control.sign_on.attempts import Attempts, derive
from querygate.control.sign_on.device_codes import DeviceCodes, LetIn
from querygate.control.sign_on.identities import Identities, Person
from querygate.core.errors import NotPermitted
from querygate.core.limits.token_bucket import Throttle
from querygate.core.types import Principal
from querygate.site.account_changes import RESERVED, AccountChanges
from querygate.site.open_gate import OpenSite, now
from querygate.site.sign_on.sign_on_settings import SignOn
from querygate.web.sign_in import SignIn
from querygate.web.sign_on.id_token import NotBelieved, Vouched
from querygate.web.sign_on.provider import Provider

LONGEST_CODE = 4096
TOLD_PER_MINUTE = 3
"""How often it is on record of one person that they were not let in."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A browser that sets out: what it holds until it is back, and where it goes."""

    secret: str
    address: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """Somebody who was let in, where their browser goes now, and what the provider calls their session, if it does."""

    principal: Principal
    person: Person
    then: str
    session: str | None


class SingleSignOn:
    """One for each process."""

    def __init__(self, opened: OpenSite, sign_on: SignOn, sign_in: SignIn) -> None:
        self.sign_on, self.provider = sign_on, Provider(sign_on)
        self._log, self._sign_in = opened.log, sign_in
        self._attempts = Attempts(opened.log.database, now, secrets.token_bytes)
        self._identities = Identities(opened.log, opened.grants, RESERVED)
        self.devices = DeviceCodes(opened.log.database, now, secrets.token_bytes)
        self._changes = AccountChanges(opened)
        self._told = Throttle(TOLD_PER_MINUTE)

    def depart(self, then: str) -> Departure:
        """Send a browser to the provider. QG317 for too many from one address, QG320 without a provider."""
        self._sign_in.check_pace()
        self.provider.metadata()  # before anything is written down
        secret = self._attempts.begin(then)
        words = (derive(secret, purpose) for purpose in ("state", "nonce", "verifier"))
        return Departure(secret, self.provider.authorization_url(*words))

    def arrive(self, secret: str, sent: Mapping[str, str]) -> Arrival:
        """Somebody is back, with what the provider had their browser send."""
        then = self._attempts.take(secret) if secret else None
        state = sent.get("state", "").encode(errors="replace")
        if then is None or not hmac.compare_digest(derive(secret, "state").encode(), state):
            self._sign_in.note_failure(is_guess=False)  # a stale page, or another site's doing: nothing was tried
            raise not_completed()
        self._sign_in.check_guesses()
        vouched = self._vouched(secret, sent)
        try:
            principal = self._identities.admit(vouched.person, self.sign_on.allowance(vouched.groups))
        except NotPermitted as refused:
            self._note_refused(vouched.person, refused)
            raise
        return Arrival(principal, vouched.person, then, vouched.session)

    def end_sessions(self, token: str) -> None:
        """Somebody has signed out at the provider, which says so by itself. QG319 for what it did not say."""
        self._sign_in.check_guesses()
        try:
            logout = self.provider.read_logout(token, now())
        except NotBelieved:
            self._sign_in.note_failure(is_guess=True)
            raise not_completed() from None
        self._identities.end_sessions(self.sign_on.issuer, logout.subject, logout.session, stamp(logout.until))

    def _vouched(self, secret: str, sent: Mapping[str, str]) -> Vouched:
        code = sent.get("code", "")
        try:
            self.provider.check_sender(sent.get("iss"))
            if "error" in sent or not 0 < len(code) <= LONGEST_CODE or not code.isprintable():
                raise NotBelieved
            return self.provider.fetch_person(code, derive(secret, "verifier"), derive(secret, "nonce"), now())
        except NotBelieved:
            self._sign_in.note_failure(is_guess=True)
            raise not_completed() from None

    def _note_refused(self, person: Person, refused: NotPermitted) -> None:
        """On record by subject; whoever tries again and again is counted, so that nobody fills the log."""
        if self._told.wait_s(person.subject, time.monotonic()) > 0:
            self._sign_in.note_throttled()
            return
        body = {"issuer": person.issuer, "subject": person.subject, "name": person.name}
        body |= {"code": refused.code, "address": self._sign_in.address()}
        self._log.note("login.refused", user=None, body=body)

    def issue_key(self, let_in: LetIn) -> NewKey:
        """The key of a program that somebody let in: theirs, for some hours."""
        ends = now() + timedelta(hours=self.sign_on.key_hours)
        return self._changes.new_sign_on_key(let_in.user, ends, let_in.scopes or frozenset())


def not_completed() -> NotPermitted:
    return NotPermitted("QG319", "The sign-in was not completed.", "Begin again, in this browser.")
