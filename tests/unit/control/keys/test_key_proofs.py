"""What keys leave behind: nothing that opens, one salt for each name, and a proof that only the key gives."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from querygate.control.keys.scram import Verifier, is_proof, make_proof
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site


def test_a_stolen_database_has_no_key_and_no_proof_of_one(tmp_path: Path) -> None:
    opened = open_gate(empty_site(tmp_path / "site"))
    opened.accounts.add_user("ann", "researcher")
    key = opened.accounts.keys.new("ann")
    with closing(sqlite3.connect(opened.site.control)) as stolen:
        text = "\n".join(stolen.iterdump())
    assert key.secret not in text
    assert key.secret.split("_")[2] not in text
    (known,) = opened.accounts.keys.proofs.of_user("ANN")
    salt = opened.accounts.keys.proofs.salt("ann")
    assert is_proof(known.verifier, b"exchange", make_proof(key.secret, salt, b"exchange"))
    assert not is_proof(known.verifier, b"another", make_proof(key.secret, salt, b"exchange"))
    assert not is_proof(known.verifier, b"exchange", known.verifier.stored_key)
    assert Verifier.read(str(known.verifier)) == known.verifier


def test_a_key_that_does_not_open_is_nobodys(tmp_path: Path) -> None:
    opened = open_gate(empty_site(tmp_path / "site"))
    opened.accounts.add_user("ann", "researcher")
    key = opened.accounts.keys.new("ann", scopes=["ask"])
    proofs = opened.accounts.keys.proofs
    found = proofs.principal(key.id)
    assert found is not None
    assert (found.name, found.scopes) == ("ann", frozenset({"ask"}))
    opened.accounts.disable_user("ann")
    assert proofs.principal(key.id) is None
    assert proofs.of_user("ann") == ()
    opened.accounts.enable_user("ann")
    opened.accounts.keys.revoke(key.id)
    assert proofs.principal(key.id) is None
