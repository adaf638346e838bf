"""The secret key with which a home signs its certificates (HMAC-SHA256, RFC 2104)."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from app.errors import AppError
from data.private import make_private, make_private_folder, private_opener

KEY_FILE = "signing.key"
_BYTES = 32


class HomeKey:
    """A signing key. Its repr does not show the secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def id(self) -> str:
        """Public ID of the key: 16 hexadecimal digits that do not reveal the secret."""
        return hashlib.sha256(b"plumbline key id\0" + self._secret).hexdigest()[:16]

    def sign(self, purpose: str, text: str) -> str:
        """Return the HMAC-SHA256 (hex) of the text for one purpose. Signatures for other purposes do not match."""
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()

    def fits(self, purpose: str, text: str, signature: str) -> bool:
        """Return whether the signature is that of ``sign``, compared in constant time."""
        return hmac.compare_digest(self.sign(purpose, text).encode(), signature.encode("utf-8", "replace"))


def known_home_key(folder: Path) -> HomeKey | None:
    """Return the key in ``folder``/signing.key, None if it does not exist. Raises the errors of ``open_home_key``."""
    secret = _read(folder / KEY_FILE)
    return None if secret is None else HomeKey(secret)


def open_home_key(folder: Path) -> HomeKey:
    """Return the key in ``folder``/signing.key, which is created with mode 0600 if it does not exist.

    Restricts the permissions of a key file that others can read. Raises AppError for a file that cannot be read or is
    not a key. Such a file is never replaced automatically, because this would invalidate every certificate.
    """
    path = folder / KEY_FILE
    found = _read(path)
    if found is None:
        _create(folder, path)
        found = _read(path)
    if found is None:
        raise AppError(f"the signing key {path} disappeared while it was created: run the command again")
    return HomeKey(found)


def _read(path: Path) -> bytes | None:
    """Return the secret, or None if the file does not exist."""
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise AppError(
                f"the signing key {path} is not a regular file: move it away, then certificates are signed "
                "with a new key"
            )
        make_private(path)
        text = path.read_text("ascii").strip()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        text = ""
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != _BYTES:
        raise AppError(
            f"the signing key {path} is damaged ({_BYTES} bytes in hexadecimal are expected): restore a "
            "backup, or move it away and calibrate again (certificates signed with it are then void)"
        )
    return secret


def _create(folder: Path, path: Path) -> None:
    """Write a new key to a temporary file and link it to ``path``.

    If two processes do this, the first one succeeds. A partial file is never visible.
    """
    make_private_folder(folder)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "x", encoding="ascii", opener=private_opener) as file:
            file.write(secrets.token_hex(_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return  # another process created it first
    finally:
        temporary.unlink(missing_ok=True)
