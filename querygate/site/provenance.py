"""What an answer was given under, beside the answer itself."""

from __future__ import annotations

from querygate.control import Log
from querygate.core.answer_bodies import AnswerBody


def with_policy(body: AnswerBody, log: Log) -> AnswerBody:
    """The answer with the hash of the policy that its question was asked under, as the log has it."""
    found = log.policy_hash(body["query_id"])
    return body if found is None else {**body, "policy_hash": found}
