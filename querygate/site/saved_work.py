"""What people keep, and who may read it: queries of one's own, and those that others share about a dataset that one may
ask. For everybody else they do not exist.
"""

from __future__ import annotations

import secrets

from querygate.control.saved.saved_queries import QueryText, SavedQueries, SavedQuery
from querygate.core.errors import NotPermitted
from querygate.core.rights import no_dataset
from querygate.core.types import Principal
from querygate.core.written_text import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    LONGEST_STATEMENT,
    check_line,
    check_text,
)
from querygate.gate.grant_check import granted_modes
from querygate.site.open_gate import OpenSite


class SavedWork:
    """One method for each thing that can be done with a saved query."""

    def __init__(self, opened: OpenSite) -> None:
        self._gate, self._queries = opened.gate, SavedQueries(opened.log, secrets.token_bytes)

    def own(self, principal: Principal) -> tuple[SavedQuery, ...]:
        return self._queries.own(principal.name)

    def shared(self, principal: Principal) -> tuple[SavedQuery, ...]:
        """What others share about the datasets that they may ask."""
        found = self._queries.shared_by_others(principal.name)
        open_to = {dataset: self.may_ask(principal, dataset) for dataset in {one.dataset for one in found}}
        return tuple(one for one in found if open_to[one.dataset])

    def read(self, principal: Principal, ident: str) -> SavedQuery:
        """A query of one's own, or one that somebody shares with them."""
        found = self._queries.find(ident)
        if found is None or not (is_own(principal, found) or (found.shared and self.may_ask(principal, found.dataset))):
            raise not_there()
        return found

    def save(self, principal: Principal, text: QueryText, *, is_shared: bool) -> SavedQuery:
        self.check_dataset(principal, text.dataset)
        return self._queries.add(principal.name, _checked(text), is_shared=is_shared)

    def change(self, principal: Principal, ident: str, text: QueryText, *, is_shared: bool) -> SavedQuery:
        """Only their own; the dataset stays. What is shared anew has to be about a dataset that they may ask now."""
        found = self._find_own(principal, ident)
        if is_shared and not found.shared:
            self.check_dataset(principal, found.dataset)
        return self._queries.change(found, _checked(text), is_shared=is_shared)

    def delete(self, principal: Principal, ident: str) -> SavedQuery:
        found = self._find_own(principal, ident)
        self._queries.delete(found)
        return found

    def check_dataset(self, principal: Principal, dataset: str) -> None:
        """Refuse what they may not ask in the words used for what there is not."""
        granted_modes(principal, dataset, self._gate.grants)
        if dataset not in self._gate.store.datasets():
            raise no_dataset()

    def may_ask(self, principal: Principal, dataset: str) -> bool:
        try:
            return bool(granted_modes(principal, dataset, self._gate.grants))
        except NotPermitted:
            return False

    def _find_own(self, principal: Principal, ident: str) -> SavedQuery:
        """What somebody else shares can be read and not changed; that it is theirs is no secret then, but the words are
        the same as for what there is not."""
        found = self._queries.find(ident)
        if found is None or not is_own(principal, found):
            raise not_there()
        return found


def is_own(principal: Principal, found: SavedQuery) -> bool:
    return principal.name == found.owner


def not_there() -> NotPermitted:
    """One wording, so that nobody learns what others keep."""
    return NotPermitted(
        "QG324",
        "There is nothing saved under this address, or it is not shared with you.",
        "Ask the person who gave you the address to share it; you also need a grant for its dataset.",
    )


def _checked(text: QueryText) -> QueryText:
    return QueryText(
        check_line("name", text.name, most=LONGEST_NAME),
        check_text("description", text.description, most=LONGEST_DESCRIPTION),
        text.dataset,
        check_text("statement", text.sql, most=LONGEST_STATEMENT, least=1),
    )
