"""E-mails (EML, and Outlook's MSG): who wrote to whom, when and about what, the words, and what is attached.

Attachments are read by the readers of files, within the bounds of the mail; those that are not read are faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.parser import BytesParser
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.decode import decode
from kgplatform.sources.files.file_text import FileText, Parts, clean, parsing
from kgplatform.sources.html_text import visible_text
from kgplatform.text import tidy

if TYPE_CHECKING:
    from oxmsg import Message

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
ReadAttachment = Callable[[str, bytes], FileText]
"""Reads a file by its name and content. Raises ``DocumentError``."""

_QUOTED = re.compile(r"^(?:[^\S\n]*>)+[^\S\n]?", re.M)
_SIGNATURES = ("smime.p7s", "signature.asc")


@dataclass
class _Mail:
    """A mail, whatever it was kept in."""

    subject: str
    headers: dict[str, str]
    body: str
    attachments: list[tuple[str, bytes]] = field(default_factory=list)


def read_mail(path: str, stream: BinaryIO, read: ReadAttachment) -> FileText:
    """A mail as RFC 5322 has it. ``read``: what reads what is attached."""
    with parsing(path, "damaged e-mail: save it again from its program"):
        message = BytesParser(_class=EmailMessage, policy=policy.default).parse(stream)
        return _laid_out(_of_message(message), read)


def read_outlook(path: str, stream: BinaryIO, read: ReadAttachment) -> FileText:
    """A mail as Outlook saves it. ``read``: what reads what is attached."""
    from oxmsg import Message

    with parsing(path, "damaged Outlook message: save it again from Outlook, as .eml"):
        return _laid_out(_of_outlook(Message.load(stream)), read)


def _laid_out(mail: _Mail, read: ReadAttachment) -> FileText:
    """The mail and its attachments, each under its name."""
    parts, faults = Parts(), []
    lines = [f"{name}: {value}" for name, value in mail.headers.items() if value]
    body = _said_once(mail.body)
    parts.add("\n\n".join(filter(None, (mail.subject, "\n".join(lines), body))), "message")
    for name, content in mail.attachments:
        label = f"attachment {tidy(name)}"
        try:
            found = read(name, content)
        except DocumentError as error:
            faults.append(f"{label}: {error.reason}")
            continue
        faults += [f"{label}: {fault}" for fault in found.faults]
        parts.add(label.capitalize(), label)
        _add_located(parts, found, label)
    return parts.found(mail.subject or None, tuple(faults))


def _add_located(parts: Parts, found: FileText, label: str) -> None:
    """The text of an attachment; where it has pages and the like, these behind its name."""
    for each in found.locations:
        parts.add(found.text[each.start : each.end], f"{label}, {each.label}")
    if not found.locations:
        parts.add(found.text, label)


def _said_once(body: str) -> str:
    """``body`` without the marks of quoted replies, and without paragraphs that it has twice, as threads do."""
    kept: dict[str, str] = {}
    for block in re.split(r"\n[^\S\n]*\n", _QUOTED.sub("", clean(body))):
        if words := tidy(block):
            kept.setdefault(words, block.strip("\n").rstrip())
    return "\n\n".join(kept.values())


def _of_message(message: EmailMessage) -> _Mail:
    headers = {name: tidy(_header(message, name)) for name in _SHOWN_HEADERS}
    mail = _Mail(tidy(_header(message, "Subject")), headers, "")
    body = message.get_body(("plain", "html"))
    if isinstance(body, EmailMessage):
        mail.body = _words(body)
    for part in _attached(message, body):
        name = part.get_filename() or "unnamed"
        if part.get_content_type() == "message/rfc822" and not name.endswith(".eml"):
            name = f"{part.get_filename() or 'message'}.eml"
        if name not in _SIGNATURES:
            mail.attachments.append((name, _content(part)))
    return mail


def _header(message: EmailMessage, name: str) -> str:
    """A header; as it stands there, if it is none by the book."""
    try:
        found = message[name]
    except Exception:  # noqa: BLE001 -- the parser of headers raises anything on broken ones
        found = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
        with suppress(LookupError, ValueError):
            found = make_header(decode_header(str(found)))
    return str(found or "")


def _attached(message: EmailMessage, body: object) -> Iterator[EmailMessage]:
    """The parts that are no body and no picture within it."""
    waiting: list[EmailMessage] = [message]
    while waiting:
        part = waiting.pop()
        if part.get_content_type() == "message/rfc822" and part is not message:
            yield part
        elif part.is_multipart():
            inner = [each for each in part.get_payload() if isinstance(each, EmailMessage)]
            if part.get_content_subtype() == "alternative":  # what holds more than words: an invitation, or pictures
                inner = [each for each in inner if each is not body and each.get_content_maintype() != "text"]
            waiting += reversed(inner)
        elif part is not body and _is_file(part):
            yield part


def _is_file(part: EmailMessage) -> bool:
    """Whether a part is to be read by itself: no picture within the body."""
    is_attached = part.get_content_disposition() == "attachment"
    if part.get_content_maintype() == "image":
        return is_attached
    return is_attached or bool(part.get_filename()) or part.get_content_maintype() == "text"


def _words(part: EmailMessage) -> str:
    """The text of a part in whatever encoding; that of HTML as it is shown."""
    try:
        text = str(part.get_content())
    except (LookupError, ValueError):
        text = decode("message", _content(part))
    return visible_text(clean(text).encode()) if part.get_content_subtype() == "html" else text


def _content(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, EmailMessage) else b""
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _of_outlook(message: Message) -> _Mail:
    known = {name.lower(): value for name, value in message.message_headers.items()}
    to = ", ".join(f"{each.name} <{each.email_address}>" for each in message.recipients)
    date = str(message.sent_date or "") or known.get("date", "")
    headers = {"From": message.sender or known.get("from", ""), "To": to or known.get("to", ""), "Date": date}
    body = message.body or (visible_text(clean(message.html_body).encode()) if message.html_body else "")
    files = [(each.file_name or "unnamed", each.file_bytes or b"") for each in message.attachments]
    return _Mail(tidy(message.subject or ""), {name: tidy(value) for name, value in headers.items()}, body, files)
