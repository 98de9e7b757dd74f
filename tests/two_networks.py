"""Two machines with a cable between them, as network namespaces of this one, where the tests may make any."""

from __future__ import annotations

import ctypes
import datetime
import ipaddress
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.places import ROOT
from tests.work import HANG_S

NETWORK = 0x40000000
"""CLONE_NEWNET of the kernel."""

OUTSIDE, INSIDE = "10.99.0.1", "10.99.0.2"


@dataclass(frozen=True)
class Networks:
    """The gate's and the vault's, by the names of their namespaces."""

    gate: str
    vault: str

    def listening(self, namespace: str) -> list[str]:
        """What takes connections there, over TCP or UDP."""
        words = ["ip", "netns", "exec", namespace, "ss", "-lntuH"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


@contextmanager
def two_networks() -> Iterator[Networks | None]:
    """None where namespaces are not permitted, or the programs for them are not there."""
    found = Networks(f"qg{os.getpid()}g", f"qg{os.getpid()}v")
    if shutil.which("ip") is None or shutil.which("ss") is None or not _runs("netns", "add", found.gate):
        yield None
        return
    try:
        is_made = (
            _runs("netns", "add", found.vault)
            and _runs("link", "add", "q0", "netns", found.gate, "type", "veth", "peer", "q0", "netns", found.vault)
            and all(
                _runs("-n", name, *words)
                for name, address in ((found.gate, OUTSIDE), (found.vault, INSIDE))
                for words in (
                    ("addr", "add", f"{address}/24", "dev", "q0"),
                    ("link", "set", "q0", "up"),
                    ("link", "set", "lo", "up"),
                )
            )
        )
        yield found if is_made else None
    finally:
        for name in (found.gate, found.vault):
            _runs("netns", "del", name)


@contextmanager
def inside(namespace: str | None) -> Iterator[None]:
    """This thread, and processes that it starts, are in a namespace; without one, where they are."""
    if namespace is None:
        yield
        return
    with open("/proc/thread-self/ns/net", "rb") as before, open(f"/run/netns/{namespace}", "rb") as there:
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(before.fileno())


@contextmanager
def encrypted_door(folder: Path, port: int) -> Iterator[tuple[str, Path]]:
    """A door with TLS at the gate's address, in front of a port of its machine: its address, and whom to believe."""
    key, certificate = folder / "door.key", folder / "door.pem"
    write_certificate(key, certificate)
    words = [sys.executable, "-m", "tests.tls_door", str(certificate), str(key), OUTSIDE, str(port)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"https://{OUTSIDE}:{int(process.stdout.readline())}", certificate
        finally:
            process.terminate()
            process.wait(HANG_S)


def _runs(*words: str) -> bool:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


def _enter(handle: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(handle, NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def write_certificate(key_file: Path, certificate_file: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, OUTSIDE)])
    today = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(OUTSIDE))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(today - datetime.timedelta(days=1)).not_valid_after(today + datetime.timedelta(days=1))
    signed = made.add_extension(names, critical=False).sign(key, hashes.SHA256())
    certificate_file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key_file.write_bytes(key.private_bytes(*form))
