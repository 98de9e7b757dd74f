"""What the provider says when somebody has signed out there (OpenID Connect Back-Channel Logout 1.0).

A logout token is no ID token and cannot pass for one: it has the event, and must not have a nonce. It is believed by
the same signatures, issuer and audience. That it is used once needs no list: it ends what began before it was issued.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jwt import JWTClaimsRegistry

from querygate.site.sign_on.sign_on_settings import SignOn
from querygate.web.sign_on.id_token import LONGEST_SUBJECT, NotBelieved, decode, is_text

EVENT = "http://schemas.openid.net/event/backchannel-logout"


@dataclass(frozen=True, slots=True)
class ProviderLogout:
    """Who signed out at the provider: a person, in all of their sessions; or in one, if it is named. Whatever began
    after `until` is not meant."""

    subject: str | None
    session: str | None
    until: datetime


def read_logout(text: object, keys: KeySet, sign_on: SignOn, now: datetime) -> ProviderLogout:
    """What a logout token says, if it holds; NotBelieved otherwise."""
    claims, skew_s = decode(text, keys).claims, int(sign_on.clock_skew_s)
    registry = JWTClaimsRegistry(
        int(now.timestamp()),
        skew_s,
        iss={"essential": True, "value": sign_on.issuer},
        aud={"essential": True, "value": sign_on.client_id},
        iat={"essential": True},
        exp={"essential": True},
        jti={"essential": True},
    )
    try:
        registry.validate(claims)
        until = datetime.fromtimestamp(claims["iat"], UTC) + timedelta(seconds=skew_s)
    except (JoseError, ValueError, TypeError, OverflowError, OSError):
        raise NotBelieved from None
    events, named = claims.get("events"), {name: claims[name] for name in ("sub", "sid") if name in claims}
    is_logout = isinstance(events, dict) and isinstance(events.get(EVENT), dict) and "nonce" not in claims
    if not (is_logout and named and all(is_text(one, LONGEST_SUBJECT) for one in named.values())):
        raise NotBelieved
    return ProviderLogout(named.get("sub"), named.get("sid"), until)
