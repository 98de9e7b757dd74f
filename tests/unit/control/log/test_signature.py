"""The site's key and what it signs."""

import shutil
import stat
import subprocess
import sys

import pytest

from querygate.control import NotSigned, SignedStatement, load_key, load_public_key, make_key
from querygate.control.log.signature import has_library
from querygate.core.errors import ConfigError
from querygate.site.health import key_health
from querygate.site.layout import init_site

SAID = SignedStatement(1, 19, "0" * 64, "a" * 64, "2026-03-01T12:00:00.000000Z")


def test_a_statement_is_read_as_it_was_signed(tmp_path):
    key = make_key(tmp_path)
    assert load_public_key(tmp_path / "log.pub").read(key.sign(SAID)) == SAID
    assert load_key(tmp_path).public.fingerprint == key.public.fingerprint


def test_only_the_owner_reads_the_private_half_and_nothing_is_replaced(tmp_path):
    made = make_key(tmp_path)
    assert stat.S_IMODE((tmp_path / "log.key").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        make_key(tmp_path)
    assert load_key(tmp_path).public.text == made.public.text


def test_any_flipped_bit_of_a_statement_shows(tmp_path):
    key = make_key(tmp_path)
    line = key.sign(SAID)
    for place in range(len(line)):
        for bit in (1, 0x20):
            altered = line[:place] + bytes([line[place] ^ bit]) + line[place + 1 :]
            with pytest.raises(NotSigned):
                key.public.read(altered)


def test_another_key_does_not_vouch(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(NotSigned, match="not made with this key"):
        make_key(tmp_path / "b").public.read(make_key(tmp_path / "a").sign(SAID))


def test_what_is_no_key_is_told(tmp_path):
    (tmp_path / "log.key").write_text("nonsense")
    (tmp_path / "log.pub").write_text("nonsense")
    with pytest.raises(ConfigError, match=r"log\.key"):
        load_key(tmp_path)
    with pytest.raises(ConfigError, match=r"log\.pub"):
        load_public_key(tmp_path / "log.pub")


def test_without_the_library_there_is_advice_and_all_else_goes_on(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    assert not has_library()
    with pytest.raises(ConfigError, match="not installed") as told:
        load_key(tmp_path)
    assert "querygate[evidence]" in told.value.remedy
    site = init_site(tmp_path / "site")
    assert not (site.folder / "log.key").exists()
    assert key_health(site).ok


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no OpenSSL to compare with")
def test_openssl_agrees(tmp_path):
    line = make_key(tmp_path).sign(SAID)
    text, _, rest = line.rpartition(b',"signature":"')
    (tmp_path / "text").write_bytes(text + b"}")
    (tmp_path / "raw").write_bytes(bytes.fromhex(rest[:128].decode()))
    command = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "log.pub",
        "-rawin",
        "-in",
        "text",
        "-sigfile",
        "raw",
    ]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "Signature Verified Successfully" in checked.stdout
