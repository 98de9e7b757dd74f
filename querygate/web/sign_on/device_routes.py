"""Programs that want to be let in, over HTTP: decode, call, render."""

from __future__ import annotations

from flask import Response

from querygate.control.sign_on.device_codes import INTERVAL_S, LASTS, LetIn
from querygate.core.errors import NotPermitted
from querygate.site.open_gate import OpenSite
from querygate.web.accounts.key_routes import read_scopes
from querygate.web.query_routes import give
from querygate.web.request_body import check_fields, read_object, read_text
from querygate.web.sign_in import SignIn
from querygate.web.sign_on.optional_sign_on import SignOnDoor

DEVICE = "/device"


class DeviceViews:
    """One method per route, called as the route's name."""

    def __init__(self, opened: OpenSite, sign_in: SignIn, sign_on: SignOnDoor) -> None:
        self._accounts, self._sign_in, self._sign_on = opened.accounts, sign_in, sign_on

    def begin_device(self) -> Response:
        sign_on = self._sign_on.there
        body = read_object('Send {"scopes": ["ask"]}, or {}.', optional=True)
        check_fields(body, "", ("scopes",))
        scopes = frozenset(read_scopes(body))
        self._sign_in.check_pace()
        made = sign_on.devices.begin(scopes, self._sign_in.address())
        page = sign_on.sign_on.public_url + DEVICE
        return give(
            {
                "device_code": made.secret,
                "user_code": made.code,
                "verification_uri": page,
                "verification_uri_complete": f"{page}?code={made.code}",
                "expires_in": int(LASTS.total_seconds()),
                "interval": INTERVAL_S,
            }
        )

    def redeem_device(self) -> Response:
        sign_on = self._sign_on.there
        body = read_object('Send {"device_code": "..."}.')
        check_fields(body, "", ("device_code",))
        found = sign_on.devices.redeem(read_text(body, "device_code"))
        if found is None:
            raise NotPermitted(
                "QG323", "The code was denied or already used, or has expired.", "Start again to get a new code."
            )
        if not isinstance(found, LetIn):
            return give({"state": found})
        issued = sign_on.issue_key(found)
        expires = self._accounts.keys.find(issued.id).expires
        return give({"state": "approved", "key": issued.secret, "user": issued.user, "expires": expires})
