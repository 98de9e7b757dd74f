"""What the provider says of a person, and whether it is to be believed.

Signatures by key pairs alone: a token without one, or with one by a shared secret (HS256, for which a public key would
pass as the secret), is refused whatever its header says. Issuer, audience, times and nonce are compared with what this
gate expects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from querygate.control.sign_on.identities import Person
from querygate.core.errors import NotPermitted
from querygate.site.sign_on.sign_on_settings import SignOn

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
ASYMMETRIC = ("RSA", "EC", "OKP")
LONGEST_TOKEN = 64_000
LONGEST_SUBJECT = 255
LONGEST_NAME = 64
MOST_GROUPS = 10_000


class NotBelieved(Exception):
    """The token does not hold. What is wrong with it is not told to whoever brought it."""


@dataclass(frozen=True, slots=True)
class Vouched:
    """Somebody the provider vouches for, their groups there, and what it calls their session, if it does."""

    person: Person
    groups: frozenset[str]
    session: str | None = None


def read_keys(body: Mapping[str, Any]) -> KeySet:
    """The provider's public keys for signatures. Secrets among them are nobody's to publish, and are left out."""
    found = body.get("keys")
    if not isinstance(found, list):
        raise NotBelieved
    usable = [
        key
        for key in found
        if isinstance(key, dict) and key.get("kty") in ASYMMETRIC and key.get("use", "sig") == "sig"
    ]
    try:
        return KeySet.import_key_set({"keys": usable})
    except (JoseError, ValueError, TypeError, KeyError):
        raise NotBelieved from None


def decode(text: object, keys: KeySet) -> jwt.Token:
    """A token that the provider has signed; NotBelieved otherwise."""
    if not isinstance(text, str) or len(text) > LONGEST_TOKEN or not text.isascii():
        raise NotBelieved
    try:
        return jwt.decode(text, keys, algorithms=ALGORITHMS)
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotBelieved from None


def read_token(
    text: object, keys: KeySet, sign_on: SignOn, nonce: str, access_token: object, now: datetime
) -> dict[str, Any]:
    """The claims of an ID token that holds; NotBelieved otherwise."""
    token = decode(text, keys)
    expected = {"iss": sign_on.issuer, "aud": sign_on.client_id}
    options = {name: {"essential": True, "value": value} for name, value in expected.items()}
    params = {"nonce": nonce, "client_id": sign_on.client_id, "access_token": access_token}
    try:
        claims = CodeIDToken(token.claims, token.header, options, params)
        claims.validate(int(now.timestamp()), int(sign_on.clock_skew_s))
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotBelieved from None
    if claims.get("nonce") != nonce:  # said once more, for everything else rests on it
        raise NotBelieved
    return dict(claims)


def read_person(claims: Mapping[str, Any], sign_on: SignOn) -> Vouched:
    """Who the claims are about. Texts that no table can keep, or nobody can read, are refused."""
    subject, name = claims.get("sub"), claims.get(sign_on.name_claim)
    if not is_text(subject, LONGEST_SUBJECT):
        raise NotBelieved
    if sign_on.groups_claim in claims.get("_claim_names", ()):
        raise NotPermitted(
            "QG321",
            "You are in more groups than the provider lists for the gate.",
            "Ask an admin to have the provider send only the groups of this application.",
        )
    person = Person(sign_on.issuer, str(subject), str(name) if is_text(name, LONGEST_NAME) else "")
    session = claims.get("sid")
    return Vouched(
        person, _groups(claims, sign_on.groups_claim), session if is_text(session, LONGEST_SUBJECT) else None
    )


def _groups(claims: Mapping[str, Any], path: str) -> frozenset[str]:
    """The claim itself, or one inside of others: realm_access.roles."""
    found: object = claims.get(path)
    if found is None:
        found = claims
        for part in path.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(group for group in listed[:MOST_GROUPS] if isinstance(group, str))


def is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()
