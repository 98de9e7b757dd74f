"""What groups of single sign-on bring: a role, and grants of datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from querygate.control.grants import GroupGrant, check_dataset
from querygate.control.sign_on.identities import Allowance
from querygate.core.errors import ConfigError
from querygate.core.rights import MODES, ROLES, UserRole


@dataclass(frozen=True, slots=True)
class GroupRule:
    """What one group brings."""

    group: str
    role: UserRole | None = None
    grants: tuple[GroupGrant, ...] = ()


def allowance_of(rules: Sequence[GroupRule], groups: frozenset[str]) -> Allowance:
    """What these groups bring together: the role of the first of them in the file, and the grants of all."""
    theirs = [rule for rule in rules if rule.group in groups]
    role = next((rule.role for rule in theirs if rule.role), None)
    return Allowance(role, tuple(dict.fromkeys(grant for rule in theirs for grant in rule.grants)))


def read_group_rules(path: Path, groups: object) -> tuple[GroupRule, ...]:
    """The table `groups` of the file; ConfigError QG805 for a group that is not described as one."""
    if not isinstance(groups, dict):
        raise _wrong_group(path, "")
    return tuple(_rule(path, name, rule) for name, rule in groups.items())


def _rule(path: Path, name: str, rule: object) -> GroupRule:
    if not isinstance(rule, dict):
        raise _wrong_group(path, "")
    role, grants = rule.get("role"), rule.get("grants", [])
    if set(rule) - {"role", "grants"} or (role is not None and role not in ROLES) or not isinstance(grants, list):
        raise _wrong_group(path, name)
    return GroupRule(name, role, tuple(_grant(path, name, grant) for grant in grants))


def _grant(path: Path, group: str, grant: object) -> GroupGrant:
    if not isinstance(grant, dict) or set(grant) - {"dataset", "modes"} or not isinstance(grant.get("dataset"), str):
        raise _wrong_group(path, group)
    modes = grant.get("modes", list(MODES))
    if not isinstance(modes, list) or not modes or not all(mode in MODES for mode in modes):
        raise _wrong_group(path, group)
    try:
        check_dataset(grant["dataset"])
    except ConfigError:
        raise _wrong_group(path, group) from None
    return GroupGrant(grant["dataset"], tuple(mode for mode in MODES if mode in modes))


def _wrong_group(path: Path, name: str) -> ConfigError:
    what = f'groups."{name[:64]}" is not accepted' if name else "groups is not accepted"
    return ConfigError(
        "QG805",
        f"{path.name}: {what}.",
        f"A group has `role` (one of {', '.join(ROLES)}), or `grants`, a list of "
        f'{{dataset = "survey", modes = ["interval"]}} with modes among {", ".join(MODES)}; or both.',
    )
