"""A real provider of OpenID Connect on 127.0.0.1: Authlib's authorization server with keys of its own.

It knows clients by their secret and their redirection addresses, wants PKCE, gives each code out once, and signs with
RS256. People sign in on a page of its own, by their name. What it says can be falsified by tests: `spoil` changes the
ID token before it leaves.
"""

from __future__ import annotations

import html
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, grants
from authlib.oauth2.rfc6749.errors import OAuth2Error
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, Response, redirect, request
from joserfc import jws
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

from tests.work import HANG_S

CLIENT, SECRET = "querygate", "correct horse battery staple"


@dataclass
class Someone:
    """A person at the provider."""

    subject: str
    name: str
    groups: list[str] = field(default_factory=list)

    def get_user_id(self) -> str:
        return self.subject


@dataclass
class Client(ClientMixin):
    redirect_uris: list[str]
    client_id: str = CLIENT

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str:
        return self.redirect_uris[0]

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.redirect_uris

    def check_client_secret(self, client_secret: str) -> bool:
        return secrets.compare_digest(client_secret, SECRET)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_basic"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code:
    code: str
    user: Someone
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str | None
    code_challenge_method: str | None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


class OidcProvider:
    """The provider's state, which tests look at and change."""

    def __init__(self) -> None:
        self.people: dict[str, Someone] = {}
        self.codes: dict[str, Code] = {}
        self.client = Client([])
        self.issuer = ""
        self.keys = [make_key("first")]
        self.spoil: Callable[[dict[str, Any], str], str] | None = None
        self.metadata_more: dict[str, object] = {}
        self.calls: list[str] = []
        self.asked: list[dict[str, str]] = []
        self.broken = False

    def add(self, name: str, *groups: str, subject: str = "") -> Someone:
        person = self.people[name] = Someone(subject or f"sub-{name}", name, list(groups))
        return person

    def claims(self, person: Someone, **more: object) -> dict[str, Any]:
        now = int(time.time())
        about = {"iss": self.issuer, "aud": CLIENT, "sub": person.subject, "iat": now, "exp": now + 300}
        return {**about, "preferred_username": person.name, "groups": person.groups, **more}

    def sign(self, claims: dict[str, Any], header: dict[str, str] | None = None) -> str:
        key = self.keys[-1]
        head = {"alg": "RS256", "kid": str(key.kid), **(header or {})}
        return jws.serialize_compact(head, json.dumps(claims).encode(), key)

    def reset(self) -> None:
        self.spoil, self.metadata_more, self.broken, self.asked = None, {}, False, []
        self.people.clear()


def make_key(name: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})


def make_app(provider: OidcProvider) -> Flask:
    app = Flask("provider")
    server = AuthorizationServer(app, lambda client_id: provider.client if client_id == CLIENT else None, _forget)

    class CodeGrant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]

        def save_authorization_code(self, code: str, request: Any) -> None:
            sent = request.payload.data
            provider.codes[code] = Code(
                code, request.user, request.payload.redirect_uri, request.payload.scope, sent.get("nonce"),
                sent.get("code_challenge"), sent.get("code_challenge_method"),
            )  # fmt: skip

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            provider.codes.pop(authorization_code.code)

        def authenticate_user(self, authorization_code: Code) -> Someone:
            return authorization_code.user

    class IdToken(OpenIDCode):
        def exists_nonce(self, nonce: str, request: Any) -> bool:
            return any(code.nonce == nonce for code in provider.codes.values())

        def generate_user_info(self, user: Someone, scope: str) -> UserInfo:
            return UserInfo(sub=user.subject)

        def encode_id_token(self, token: dict[str, Any], request: Any) -> str:
            person, nonce = request.user, request.authorization_code.nonce
            claims = provider.claims(person, nonce=nonce)
            access = token["access_token"]
            return provider.spoil(claims, access) if provider.spoil else provider.sign(claims)

        def get_client_algorithm(self, client: Client) -> str:
            return "RS256"

    server.register_grant(CodeGrant, [IdToken(require_nonce=True), CodeChallenge(required=True)])
    _install(app, provider, server)
    return app


def _install(app: Flask, provider: OidcProvider, server: AuthorizationServer) -> None:
    @app.before_request
    def note() -> Response | None:
        provider.calls.append(request.path)
        return Response("down", 503) if provider.broken else None

    @app.get("/.well-known/openid-configuration")
    def discovery() -> dict[str, object]:
        root = provider.issuer
        return {
            "issuer": root,
            "authorization_endpoint": f"{root}/authorize",
            "token_endpoint": f"{root}/token",
            "jwks_uri": f"{root}/keys",
            "end_session_endpoint": f"{root}/logout",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            **provider.metadata_more,
        }

    @app.get("/keys")
    def keys() -> dict[str, object]:
        return {"keys": [key.as_dict(private=False) for key in provider.keys[-1:]]}

    @app.route("/authorize", methods=["GET", "POST"])
    def authorize() -> Response:
        try:
            grant = server.get_consent_grant(end_user=None)
        except OAuth2Error as error:
            return Response(error.error, 400)
        if request.method == "GET":
            provider.asked.append(dict(request.args))
            form = '<!doctype html><title>Provider</title><form method="post"><input id="who" name="who"><button>Go'
            return Response(form, content_type="text/html")
        person = provider.people.get(request.form["who"])
        return server.create_authorization_response(grant_user=person, grant=grant)  # type: ignore[no-any-return]

    @app.post("/token")
    def token() -> Response:
        return server.create_token_response()  # type: ignore[no-any-return]

    @app.get("/logout")
    def logout() -> Response:
        back = request.args["post_logout_redirect_uri"]
        known = request.args["client_id"] == CLIENT and back.startswith(
            provider.client.redirect_uris[0].rsplit("/", 2)[0]
        )
        return redirect(back) if known else Response(html.escape(back), 400)  # type: ignore[return-value]


def _forget(token: dict[str, Any], request: Any) -> None:
    """Access tokens are of no use here."""


@contextmanager
def running(provider: OidcProvider) -> Iterator[OidcProvider]:
    """The provider, listening on a free port of 127.0.0.1."""
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # it listens on this machine alone
    server = make_server("127.0.0.1", 0, make_app(provider), threaded=True)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(HANG_S)
