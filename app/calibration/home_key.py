"""HomeKey: the secret with which a home signs its certificates (HMAC-SHA256, RFC 2104)."""

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
    """Signs texts. Never prints its secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def id(self) -> str:
        """Names the key without giving it away: 16 hexadecimal digits."""
        return hashlib.sha256(b"plumbline key id\0" + self._secret).hexdigest()[:16]

    def sign(self, purpose: str, text: str) -> str:
        """HMAC-SHA256 (hex) of the text for one purpose; a signature for another purpose does not fit."""
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()

    def fits(self, purpose: str, text: str, signature: str) -> bool:
        """Whether ``sign`` gives this signature; takes the same time wherever they differ."""
        return hmac.compare_digest(self.sign(purpose, text).encode(), signature.encode("utf-8", "replace"))


def known_home_key(folder: Path) -> HomeKey | None:
    """The key in ``folder``/signing.key, None where there is none. Raises AppError as ``open_home_key`` does."""
    secret = _read(folder / KEY_FILE)
    return None if secret is None else HomeKey(secret)


def open_home_key(folder: Path) -> HomeKey:
    """The key in ``folder``/signing.key; made, for its owner alone (0600), where there is none.

    A key file that is open to others is closed. Raises AppError for one that cannot be read or is no key: replacing it
    would void every certificate, so that is left to a person.
    """
    path = folder / KEY_FILE
    found = _read(path)
    if found is None:
        _make(folder, path)
        found = _read(path)
    if found is None:
        raise AppError(f"the signing key {path} vanished while it was made: run the command again")
    return HomeKey(found)


def _read(path: Path) -> bytes | None:
    """The secret, None where there is no file."""
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise AppError(
                f"the signing key {path} is no regular file: move it away, certificates are signed anew then"
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
            f"the signing key {path} is damaged ({_BYTES} bytes in hexadecimal are expected): put its copy back, or "
            "move it away and calibrate again (certificates signed with it are then void)"
        )
    return secret


def _make(folder: Path, path: Path) -> None:
    """Write a new key beside ``path`` and link it there, so that of two processes one wins and none is half-written."""
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
            return  # another process made it first
    finally:
        temporary.unlink(missing_ok=True)
