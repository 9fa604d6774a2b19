"""What a search finds for a question, compared whenever the graph has changed; and who is told.

for change in watch(store, question, lambda: kg.search(question).first_sentences(FIRST), every=2.0):
    send("https://example.org/hook", secret, encode(change))
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgplatform.errors import InputError, KgError, ModelError, ServerError, SettingError
from kgplatform.neo4j.passes import EXCLUDES, wait_meanwhile
from kgplatform.neo4j.store import Store
from kgplatform.records import Citation
from kgplatform.shown import Shown
from kgplatform.text import tidy

FIRST = 5
"""Passages whose best sentences are the evidence."""
SIGNATURE = "X-Kgplatform-Signature"
"""The header with ``sha256=`` and the HMAC of the body."""
_SECONDS = 10.0


@dataclass(frozen=True, slots=True, repr=False)
class EvidenceChange(Shown):
    """Sentences that are found for ``question`` now and were not before, ``came``, and those that were, ``gone``."""

    question: str
    came: tuple[Citation, ...]
    gone: tuple[Citation, ...]


def watch(
    store: Store, question: str, find: Callable[[], tuple[Citation, ...]], every: float
) -> Iterator[EvidenceChange]:
    """Each change of what ``find`` finds from now on, as soon as no pass writes any more; it is looked for after
    transactions that changed the database, at most every so many seconds. Ends with the store's ``stop``."""

    def known() -> tuple[frozenset[str], dict[tuple[str, str], Citation]]:
        wait_meanwhile(store, tuple(EXCLUDES), lambda line: None)
        at = store.last_change()
        try:
            return at, {(each.document, tidy(each.text)): each for each in find()}
        except InputError:  # no document fits its condition any more
            return at, {}

    def changes(at: frozenset[str], before: dict[tuple[str, str], Citation]) -> Iterator[EvidenceChange]:
        while True:
            store.stop.sleep(every)
            if store.last_change() == at:
                continue
            try:
                at, now = known()
            except (ModelError, ServerError):  # it is looked for again
                continue
            if now.keys() != before.keys():
                came = tuple(each for key, each in now.items() if key not in before)
                yield EvidenceChange(question, came, tuple(before[key] for key in before if key not in now))
            before = now

    return changes(*known())


def check_webhook(url: str, secret: object) -> None:
    """Raise ``InputError`` unless it is an address of HTTPS, or of this machine, and there is a secret."""
    import httpx

    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise InputError(f"webhook={url:.200} cannot be used: {error}.", "webhook") from error
    is_here = parts.host in ("localhost", "127.0.0.1", "::1")
    if not parts.host or parts.scheme not in ("https", "http" if is_here else "https"):
        said = f"webhook={url:.200} cannot be used: give an https:// address, or one of this machine."
        raise InputError(said, "webhook")
    if not secret:
        raise SettingError(
            "Set KGPLATFORM_WEBHOOK_SECRET: it signs the messages, so that who gets them can trust them."
        )


def send(url: str, secret: str, body: bytes) -> None:
    """POST ``body``, signed with ``secret``. Redirects are not followed. Raises ``KgError``."""
    import httpx

    signed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", SIGNATURE: f"sha256={signed}"}
    try:
        httpx.post(url, content=body, headers=headers, timeout=_SECONDS).raise_for_status()
    except httpx.HTTPError as error:  # without the address, which may hold a secret
        why = (
            f"status {error.response.status_code}" if isinstance(error, httpx.HTTPStatusError) else type(error).__name__
        )
        raise KgError(f"{httpx.URL(url).host} did not take the message ({why}).") from None
