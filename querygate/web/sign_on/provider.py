"""The provider of single sign-on, over HTTPS: its discovery document, its keys, and the exchange of a code for an ID
token. Nothing else is ever called, no redirection is followed, and every call has a time limit.

What the provider publishes is kept for an hour. A signature by a key that is not known has the keys fetched again, at
most every ten seconds, so that a provider may change its keys at any time. A provider that was out of reach is not
tried again for ten seconds: threads that wait for it would be missing elsewhere.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import requests
from authlib.common.urls import add_params_to_uri
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from joserfc.jwk import KeySet

from querygate.core.errors import NotPermitted
from querygate.site.sign_on.sign_on_settings import SignOn, is_safe_address
from querygate.web.sign_on.id_token import NotBelieved, Vouched, read_keys, read_person, read_token
from querygate.web.sign_on.logout_token import ProviderLogout, read_logout

_T = TypeVar("_T")

DISCOVERY = "/.well-known/openid-configuration"
CALLBACK = "/sign-in/callback"
KEPT_S = 3600.0
AGAIN_S = 10.0
CALLS_AT_ONCE = 4
LARGEST_REPLY = 1_000_000


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the discovery document says, as far as it is needed."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str | None
    auth_method: str
    names_itself: bool
    """Whether it says who it is when a browser comes back (RFC 9207), so that its silence is another's answer."""


class Provider:
    """One provider. Safe to share between threads."""

    def __init__(self, sign_on: SignOn, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._sign_on, self._clock_s = sign_on, clock_s
        self._lock = threading.Lock()
        self._calls = threading.BoundedSemaphore(CALLS_AT_ONCE)
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._failed_s: float | None = None

    @property
    def redirect_uri(self) -> str:
        return self._sign_on.public_url + CALLBACK

    # -- what browsers are told --------------------------------------------------------------------------

    def authorization_url(self, state: str, nonce: str, verifier: str) -> str:
        """Where a browser goes to sign in."""
        with self._client() as client:
            address, _ = client.create_authorization_url(
                self.metadata().authorization_endpoint, state=state, nonce=nonce, code_verifier=verifier
            )
        return str(address)

    def logout_url(self, back: str) -> str | None:
        """Where a browser goes to sign out at the provider, too; None if there is no such place. No token was kept, so
        the provider may ask the person whether they mean it."""
        try:
            end = self.metadata().end_session_endpoint
        except NotPermitted:
            return None
        params = [("client_id", self._sign_on.client_id), ("post_logout_redirect_uri", back)]
        return str(add_params_to_uri(end, params)) if end else None

    def check_sender(self, named: str | None) -> None:
        """Is it this provider that sent the browser back? (RFC 9207, against mixing up two of them)"""
        if (named is None and self.metadata().names_itself) or named not in (None, self._sign_on.issuer):
            raise NotBelieved

    # -- what the provider says --------------------------------------------------------------------------

    def fetch_person(self, code: str, verifier: str, nonce: str, now: datetime) -> Vouched:
        """Whom the code stands for; NotBelieved if the provider does not accept it, or says what does not hold."""
        metadata = self.metadata()
        with self._reaching(), self._client(metadata.auth_method) as client:
            try:
                token: Mapping[str, Any] = client.fetch_token(
                    metadata.token_endpoint,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    timeout=self._sign_on.timeout_s,
                    allow_redirects=False,
                )
            except (OAuthError, ValueError, AttributeError, TypeError) as error:
                if isinstance(error, requests.RequestException):
                    raise
                raise NotBelieved from None
        text, access = token.get("id_token"), token.get("access_token")
        claims = self._believed(lambda keys: read_token(text, keys, self._sign_on, nonce, access, now))
        return read_person(claims, self._sign_on)

    def read_logout(self, text: str, now: datetime) -> ProviderLogout:
        """Who signed out, as a token of the provider says; NotBelieved if it does not hold."""
        return self._believed(lambda keys: read_logout(text, keys, self._sign_on, now))

    def _believed(self, read: Callable[[KeySet], _T]) -> _T:
        """What a token says by the keys that are known; or by others, if the provider has changed them."""
        try:
            return read(self._find_keys(0.0))
        except NotBelieved:
            return read(self._find_keys(AGAIN_S))

    def metadata(self) -> Metadata:
        """What the provider says of itself; QG320 if it cannot be had."""
        with self._lock:
            kept = self._metadata
            if kept is None or kept[0] + KEPT_S < self._clock_s():
                kept = self._metadata = self._clock_s(), self._read_metadata()
            return kept[1]

    def _find_keys(self, no_older_s: float) -> KeySet:
        """The keys; fetched again where they are older than this (0: than an hour)."""
        address = self.metadata().jwks_uri
        with self._lock:
            kept = self._keys
            if kept is None or kept[0] + (no_older_s or KEPT_S) < self._clock_s():
                kept = self._keys = self._clock_s(), read_keys(self._get(address))
            return kept[1]

    def _read_metadata(self) -> Metadata:
        body = self._get(self._sign_on.issuer.rstrip("/") + DISCOVERY)
        if body.get("issuer") != self._sign_on.issuer:
            raise unreachable()
        end = body.get("end_session_endpoint")
        methods = body.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        method = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        return Metadata(
            self._endpoint(body, "authorization_endpoint"),
            self._endpoint(body, "token_endpoint"),
            self._endpoint(body, "jwks_uri"),
            end if isinstance(end, str) and is_safe_address(end, self._sign_on.issuer) else None,
            method if self._sign_on.client_secret else "none",
            body.get("authorization_response_iss_parameter_supported") is True,
        )

    def _endpoint(self, body: Mapping[str, Any], name: str) -> str:
        address = body.get(name)
        if not isinstance(address, str) or not is_safe_address(address, self._sign_on.issuer):
            raise unreachable()
        return address

    # -- calling it --------------------------------------------------------------------------------------

    def _client(self, auth_method: str = "none") -> OAuth2Session:
        return OAuth2Session(
            self._sign_on.client_id,
            self._sign_on.client_secret or None,
            token_endpoint_auth_method=auth_method,
            scope=" ".join(self._sign_on.scopes),
            redirect_uri=self.redirect_uri,
            code_challenge_method="S256",
        )

    def _get(self, address: str) -> Mapping[str, Any]:
        """A JSON object of the provider."""
        with self._reaching():
            timeout_s = self._sign_on.timeout_s
            with requests.get(address, timeout=timeout_s, allow_redirects=False, stream=True) as response:
                if response.status_code != requests.codes.ok:
                    raise requests.HTTPError
                data = response.raw.read(LARGEST_REPLY + 1, decode_content=True)
            if len(data) > LARGEST_REPLY:
                raise requests.HTTPError
            body = json.loads(data)
            if not isinstance(body, dict):
                raise requests.HTTPError
        return body

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Around a call: QG320 for a provider that does not answer, at once if it did not a moment ago."""
        if self._failed_s is not None and self._clock_s() < self._failed_s + AGAIN_S:
            raise unreachable()
        if not self._calls.acquire(timeout=self._sign_on.timeout_s):
            raise unreachable()
        try:
            yield
            self._failed_s = None
        except (OSError, ValueError, RecursionError, requests.RequestException):
            self._failed_s = self._clock_s()
            raise unreachable() from None
        finally:
            self._calls.release()


def unreachable() -> NotPermitted:
    refused = NotPermitted(
        "QG320", "The provider of single sign-on cannot be reached.", "Sign in with a key, or try again in a minute."
    )
    refused.retry_after_s = AGAIN_S
    return refused
