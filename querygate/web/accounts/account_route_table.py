"""The routes about people: users, keys, grants."""

from __future__ import annotations

from querygate.core.rights import Right
from querygate.web.route import ANYONE, API, TRUTH, Parameter, Route

ACCOUNTS: tuple[Right, ...] = ("accounts",)
OWN: tuple[Right, ...] = ("own_keys",)

USER_ACTS = ("disable", "enable", "remove")

USER = Parameter("user", "path", "Name of the user.", {"type": "string"})
KEY = Parameter("key_id", "path", "The `id` of the key: the 8 characters after qg_.", {"type": "string"})

GRANT_ROUTES: tuple[Route, ...] = (
    Route(
        "list_grants",
        "GET",
        f"{API}/grants",
        "List the grants: who may ask which dataset, in which modes, until when.",
        ("grant",),
        gives="Grants",
        parameters=(Parameter("revoked", "query", "true: include revoked grants.", TRUTH),),
    ),
    Route(
        "add_grant",
        "POST",
        f"{API}/grants",
        "Let a user, a project, an organisation or everyone query a dataset. It is logged.",
        ("grant",),
        gives="Grant",
        body="NewGrant",
        codes=("QG806", "QG808"),
    ),
    Route(
        "revoke_grant",
        "POST",
        f"{API}/grants/{{grant_id}}/revoke",
        "Revoke a grant, from the next request on. It is logged.",
        ("grant",),
        gives="Grant",
        parameters=(Parameter("grant_id", "path", "The `id` of the grant.", {"type": "string"}),),
        codes=("QG806", "QG808"),
    ),
)

USER_ROUTES: tuple[Route, ...] = (
    Route(
        "list_users",
        "GET",
        f"{API}/users",
        "List the users of the site.",
        ACCOUNTS,
        gives="Users",
        parameters=(Parameter("removed", "query", "true: include removed users.", TRUTH),),
    ),
    Route(
        "add_user",
        "POST",
        f"{API}/users",
        "Open an account. It has no key and no grant yet. It is logged.",
        ACCOUNTS,
        gives="User",
        body="NewUser",
        codes=("QG806",),
    ),
    Route(
        "change_user",
        "PUT",
        f"{API}/users/{{user}}",
        "Give a user another role, project or organisation, from the next request on. It is logged.",
        ACCOUNTS,
        gives="User",
        body="UserChange",
        parameters=(USER,),
        codes=("QG806", "QG808", "QG809"),
    ),
    Route(
        "act_on_user",
        "POST",
        f"{API}/users/{{user}}/{{action}}",
        "Close an account, reopen it, or remove it permanently. Keys of a closed account do not work. This is logged. "
        "Removing an account needs the right `accounts`.",
        ("accounts", "suspend"),
        gives="User",
        parameters=(USER, Parameter("action", "path", "What to do.", {"enum": list(USER_ACTS)})),
        codes=("QG808", "QG809"),
    ),
)

KEY_ROUTES: tuple[Route, ...] = (
    Route(
        "list_keys",
        "GET",
        f"{API}/keys",
        "List the keys of the site, without their secrets.",
        ACCOUNTS,
        gives="Keys",
        parameters=(Parameter("user", "query", "Only keys of this user.", {"type": "string"}),),
    ),
    Route(
        "new_key",
        "POST",
        f"{API}/keys",
        "Issue a key: admins for researchers and admins, custodians for reviewers, custodians and auditors. This is "
        "the only time that it is shown. It is logged, without its secret.",
        ("accounts", "entrust"),
        gives="IssuedKey",
        body="NewKey",
        codes=("QG806", "QG808"),
    ),
    Route(
        "rotate_key",
        "POST",
        f"{API}/keys/{{key_id}}/rotate",
        "Replace a key with a new one for the same user and scopes. The old one works for a while yet. It is logged.",
        ACCOUNTS,
        gives="IssuedKey",
        body="Rotation",
        parameters=(KEY,),
        codes=("QG806", "QG808"),
    ),
    Route(
        "revoke_key",
        "POST",
        f"{API}/keys/{{key_id}}/revoke",
        "Revoke a key and any key that replaced it, from the next request on. It is logged.",
        ACCOUNTS,
        gives="Key",
        parameters=(KEY,),
        codes=("QG808",),
    ),
    Route("list_own_keys", "GET", f"{API}/keys/own", "List your own keys, without their secrets.", OWN, gives="Keys"),
    Route(
        "rotate_own_key",
        "POST",
        f"{API}/keys/own/rotate",
        "Replace the key that you send with a new one that has the same scopes and expiry. It is logged.",
        OWN,
        gives="IssuedKey",
        body="OwnRotation",
        codes=("QG806",),
    ),
    Route(
        "revoke_own_key",
        "POST",
        f"{API}/keys/own/revoke",
        "Revoke the key that you send: it stops working at once. This is logged.",
        OWN,
        gives="Key",
    ),
)

DEVICE_ROUTES: tuple[Route, ...] = (
    Route(
        "begin_device",
        "POST",
        f"{API}/device",
        "For a program without a key: ask to be let in by somebody who signs in at a browser (RFC 8628).",
        ANYONE,
        gives="DeviceCode",
        body="DeviceRequest",
        codes=("QG317", "QG322"),
    ),
    Route(
        "redeem_device",
        "POST",
        f"{API}/device/token",
        "Ask, every few seconds, whether somebody has let the program in: then it gets a key for some hours.",
        ANYONE,
        gives="DeviceState",
        body="DeviceSecret",
        codes=("QG317", "QG322", "QG323"),
    ),
)

ACCOUNT_ROUTES: tuple[Route, ...] = (*GRANT_ROUTES, *USER_ROUTES, *KEY_ROUTES, *DEVICE_ROUTES)
