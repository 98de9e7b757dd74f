"""The whole table: every state, every kind of person, every action. What is in it moves; all else is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querygate.control.schema import EXPORTS
from querygate.core.errors import ExtractRefused
from querygate.core.extracts.approval_states import (
    ACTIONS,
    FINAL,
    STATES,
    TABLE,
    ExtractRequest,
    advance,
    check_comment,
    expired,
    has_expired,
    possible,
    roles_of,
)
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.types import Principal
from tests.each import each

ASKED = ExtractRequest("x_1", 1, "ann", ExtractSpec("clinic", "to know"), "draft", "2026-03-01", "2026-03-01")

# (who acts, whose request it is) -> what they are to it
PEOPLE = {
    "a researcher, of their own": (Principal("ann", "researcher"), {"requester"}),
    "a researcher, of another's": (Principal("bob", "researcher"), set()),
    "a custodian, of another's": (Principal("carl", "custodian"), {"custodian", "reviewer"}),
    "a reviewer, of another's": (Principal("dora", "reviewer"), {"reviewer"}),
    "a custodian, of their own": (Principal("ann", "custodian"), {"requester", "custodian"}),
    "a reviewer, of their own": (Principal("Ann", "reviewer"), {"requester"}),
    "an admin": (Principal("dora", "admin"), set()),
    "an auditor": (Principal("dora", "auditor"), set()),
}

# Written out once more, by hand: the table is compared with what was agreed, and not with itself.
AGREED = """
draft      edit     requester            draft
draft      submit   requester            submitted
draft      withdraw requester            withdrawn
submitted  take     reviewer             in_review
submitted  comment  requester,reviewer   submitted
submitted  note     reviewer             submitted
submitted  withdraw requester            withdrawn
in_review  comment  requester,reviewer   in_review
in_review  note     reviewer             in_review
in_review  approve  reviewer             approved
in_review  return   reviewer             returned
in_review  reject   reviewer             rejected
in_review  withdraw requester            withdrawn
returned   edit     requester            returned
returned   comment  requester,reviewer   returned
returned   note     reviewer             returned
returned   submit   requester            submitted
returned   withdraw requester            withdrawn
approved   comment  requester,reviewer   approved
approved   note     reviewer             approved
approved   build    custodian            built
approved   revoke   custodian            revoked
built      comment  requester,reviewer   built
built      note     reviewer             built
built      build    custodian            built
built      release  reviewer             released
built      revoke   custodian            revoked
released   fetch    requester,custodian  released
released   revoke   custodian            revoked
released   expire   time                 expired
"""
ALLOWED = {
    (state, action): (set(who.split(",")), after)
    for state, action, who, after in (line.split() for line in AGREED.strip().splitlines())
}


def test_the_table_is_what_was_agreed():
    assert {key: (set(rule.who), rule.next) for key, rule in TABLE.items()} == ALLOWED


@each("action", ACTIONS)
@each("state", STATES)
@each("by, roles", PEOPLE.values())
def test_every_combination(state, by, roles, action):
    asked = replace(ASKED, state=state)
    assert roles_of(by, asked) == roles
    who, after = ALLOWED.get((state, action), (set(), ""))
    if who & roles:
        assert advance(asked, action, by).state == after
        assert action in possible(asked, by)
        return
    gone = action == "fetch" and state in ("expired", "revoked")
    code = "QG603" if not roles else "QG606" if gone else "QG602" if who else "QG601"
    with pytest.raises(ExtractRefused) as refused:
        advance(asked, action, by)
    assert refused.value.code == code
    assert refused.value.remedy
    assert action not in possible(asked, by)


def test_what_is_final_takes_nothing_and_everything_else_has_a_way_on():
    for state in STATES:
        onward = {rule.next for (before, _), rule in TABLE.items() if before == state} - {state}
        assert bool(onward) == (state not in FINAL)
    reached = {"draft"} | {rule.next for rule in TABLE.values()}
    assert reached == set(STATES)


def test_the_database_moves_requests_along_the_same_lines():
    [trigger] = [statement for statement in EXPORTS if "export_request_moves" in statement]
    edges = {(state, rule.next) for (state, _), rule in TABLE.items()} | {("in_review", "in_review")}
    assert {f"'{before}>{after}'" for before, after in edges} == {
        word for word in trigger.replace(")", " ").replace(",", " ").split() if ">" in word and len(word) > 5
    }


def test_nobody_approves_what_they_asked_for_whatever_they_are():
    for role in ("custodian", "reviewer"):
        for action in ("take", "approve", "return", "reject", "release"):
            state = next(state for state, known in TABLE if known == action)
            with pytest.raises(ExtractRefused) as refused:
                advance(replace(ASKED, state=state), action, Principal("ANN", role))
            assert refused.value.code == "QG602"


def test_two_reviewers_are_two_people():
    carl, dora = Principal("carl", "custodian"), Principal("dora", "reviewer")
    once = advance(replace(ASKED, state="in_review"), "approve", carl, reviewers=2)
    assert (once.state, once.approvals) == ("in_review", ("carl",))
    assert "approve" not in possible(once, carl)
    with pytest.raises(ExtractRefused) as refused:
        advance(once, "approve", Principal("Carl", "custodian"), reviewers=2)
    assert refused.value.code == "QG602"
    twice = advance(once, "approve", dora, reviewers=2)
    assert (twice.state, twice.approvals) == ("approved", ("carl", "dora"))


def test_an_edit_voids_approvals_and_sending_it_again_does_not():
    carl, ann = Principal("carl", "custodian"), Principal("ann", "researcher")
    returned = replace(ASKED, state="returned", approvals=("carl",))
    assert advance(returned, "submit", ann).approvals == ("carl",)
    assert advance(returned, "edit", ann).approvals == ()
    assert advance(replace(ASKED, state="in_review"), "approve", carl).approvals == ("carl",)


def test_what_is_acknowledged_is_acknowledged_by_all_and_an_edit_voids_it():
    carl, dora = Principal("carl", "custodian"), Principal("dora", "reviewer")
    for first, second in ((True, True), (True, False), (False, True)):
        once = advance(replace(ASKED, state="in_review"), "approve", carl, reviewers=2, beside_views=first)
        twice = advance(once, "approve", dora, reviewers=2, beside_views=second)
        assert (twice.state, twice.beside_views) == ("approved", first and second)
    known = replace(ASKED, state="returned", beside_views=True)
    assert not advance(known, "edit", Principal("ann", "researcher")).beside_views


def test_time_ends_what_was_released_and_nothing_else():
    released = replace(ASKED, state="released", expires="2026-03-02")
    assert not has_expired(released, "2026-03-01")
    assert has_expired(released, "2026-03-02")
    assert expired(released).state == "expired"
    assert not any(has_expired(replace(released, state=state), "2027") for state in STATES if state != "released")


@pytest.mark.parametrize("action", ["comment", "return", "reject"])
def test_some_acts_say_why(action):
    with pytest.raises(ExtractRefused, match="missing"):
        check_comment(action, "  ")
    assert check_comment(action, " k is too small ") == "k is too small"


@pytest.mark.parametrize("text", ["x" * 4001, "a\0b", "half \ud800"])
def test_comments_are_texts_of_a_length(text):
    with pytest.raises(ExtractRefused) as refused:
        check_comment("submit", text)
    assert refused.value.code == "QG604"
    assert check_comment("submit", "x" * 4000) == "x" * 4000
