"""Secrets in the record: encrypted with AES-256-GCM, bound to their chassis.

A sealed text is one byte of format, 8 bytes of key id, 12 bytes of nonce, then ciphertext and tag. The
name of the chassis is authenticated with it, so that it can't be moved to another chassis.
"""

import json
import os
from collections.abc import Mapping
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from switchgear.errors import Conflict
from switchgear.secret import Secret

_FORMAT = b"\x01"
_ID, _NONCE = 8, 12


class Keys:
    """The key that seals the secrets of every chassis: 32 random bytes, from the region's key file.

    ValueError if it has another size.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise ValueError(f"the key has {len(key)} bytes, not 32")
        self._cipher = AESGCM(key)
        self._id = sha256(b"switchgear key id" + key).digest()[:_ID]

    def seal(self, chassis: str, secrets: Mapping[str, Secret]) -> bytes:
        """Encrypt the secrets of a chassis."""
        plain = json.dumps({name: secret.reveal() for name, secret in secrets.items()}).encode()
        nonce = os.urandom(_NONCE)
        head = _FORMAT + self._id
        sealed = self._cipher.encrypt(nonce, plain, head + chassis.encode())
        return head + nonce + sealed

    def unseal(self, chassis: str, sealed: bytes) -> dict[str, Secret]:
        """Decrypt what `seal` made for this chassis. Raises Conflict if it was another key or chassis."""
        head, rest = sealed[: 1 + _ID], sealed[1 + _ID :]
        if head != _FORMAT + self._id:
            raise Conflict(
                f"the secrets of {chassis} were sealed with another key file; put that one back,"
                " or set them again"
            )
        try:
            plain = self._cipher.decrypt(rest[:_NONCE], rest[_NONCE:], head + chassis.encode())
        except InvalidTag:
            raise Conflict(
                f"the sealed secrets of {chassis} were changed; set them again"
            ) from None
        return {name: Secret(text) for name, text in json.loads(plain).items()}
