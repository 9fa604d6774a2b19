"""E-mails (EML, Outlook's MSG, mailboxes): who wrote to whom, when and about what, the words, and what is attached.

Attachments are read by the readers of files, within the bounds of the mail; those that are not read are faults.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import policy
from email.errors import MessageError
from email.header import decode_header
from email.message import EmailMessage
from email.parser import BytesParser
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from kgplatform.errors import DocumentError
from kgplatform.sources.corpus_file import CorpusItem, ItemOrFault
from kgplatform.sources.decode import Decoded, decode
from kgplatform.sources.files.file_text import FileText, Parts, clean, parsing
from kgplatform.sources.files.plain import page_text
from kgplatform.sources.html_text import visible_text
from kgplatform.text import tidy

if TYPE_CHECKING:
    pass

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
ReadAttachment = Callable[[str, bytes], FileText]
"""Reads a file by its name and content. Raises ``DocumentError``."""

_QUOTED = re.compile(r"^(?:[^\S\n]*>)+[^\S\n]?", re.M)
_SIGNATURES = ("smime.p7s", "signature.asc")
_NO_WORDS = ("pgp-signature", "pkcs7-signature", "x-pkcs7-signature", "pgp-encrypted")
"""Kinds of parts that say nothing to a reader."""


@dataclass
class _Mail:
    """A mail, whatever it was kept in. ``faults``: what of its words is not sure."""

    subject: str
    headers: dict[str, str]
    body: str
    attachments: list[tuple[str, bytes]] = field(default_factory=list)
    faults: tuple[str, ...] = ()


def read_mail(path: str, stream: BinaryIO, read: ReadAttachment) -> FileText:
    """A mail as RFC 5322 has it. ``read``: what reads what is attached."""
    with parsing(path, "damaged e-mail: save it again from its program"):
        return _laid_out(_of_message(_parsed(stream.read())), read)


def read_mailbox(path: str, stream: BinaryIO, read: ReadAttachment) -> Iterator[ItemOrFault]:
    """The mails of a file in the format MBOX (RFC 4155), each a document."""
    known: Counter[str] = Counter()
    for number, source in enumerate(_messages(stream), start=1):
        try:
            with parsing(path, "damaged"):
                message = _parsed(source)
                found = _laid_out(_of_message(message), read)
        except DocumentError as error:
            yield f"message {number}: {error.reason}"
            continue
        name = quote(tidy(_header(message, "Message-ID")).strip("<>"), safe="")
        known[name] += 1
        again = f";{known[name]}" if known[name] > 1 else ""
        fragment = name + again if name else f";{number}"
        faults = tuple(f"message {number}: {fault}" for fault in found.faults)
        yield CorpusItem(found.title or "", number, found.text, fragment, {}, found.locations, faults)


def _messages(stream: BinaryIO) -> Iterator[bytes]:
    """The messages of a mailbox: each begins behind a blank line with "From ", an address and a date."""
    message: list[bytes] = []
    is_blank = True
    for line in stream:
        if is_blank and MAILBOX.match(line):
            if message:
                yield b"".join(message)
            message = []
        else:
            message.append(line[1:] if _ESCAPED.match(line) else line)
        is_blank = not line.strip()
    if b"".join(message).strip():
        yield b"".join(message)


MAILBOX = re.compile(rb"From [^\n]*\d\d:\d\d[^\n]*\d{4}")
"""How each message of a mailbox begins."""
_ESCAPED = re.compile(rb">+From ")


def read_web_archive(path: str, stream: BinaryIO) -> FileText:
    """A page that a browser saved with all that it shows (MHTML): its text."""
    with parsing(path, "damaged web archive: save the page again"):
        page = next((part for part in _parsed(stream.read()).walk() if part.get_content_type() == "text/html"), None)
        if not isinstance(page, EmailMessage):
            raise DocumentError(path, "a web archive without a page")
        return page_text(path, decode(path, _content(page), declared=page.get_content_charset() or ""))


def _parsed(source: bytes) -> EmailMessage:
    """The message; by the boundary that its parts have, where it declares another one."""
    source = source.removeprefix(BOM_UTF8)
    message = BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(source)
    is_whole = message.get_content_maintype() != "multipart" or message.is_multipart()
    if not is_whole and (found := _BOUNDARY.search(source)):
        with suppress(MessageError):
            message.set_boundary(found[1].decode("ascii", "replace"))
            message = BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(message.as_bytes())
    return message


_BOUNDARY = re.compile(rb"^--([^\s-][^\n]{0,70}?)[^\S\n]*\r?\n(?=content-)", re.M | re.I)


def read_outlook(path: str, stream: BinaryIO, read: ReadAttachment) -> FileText:
    """A mail as Outlook saves it. ``read``: what reads what is attached."""
    from oxmsg import Message

    with parsing(path, "damaged Outlook message: save it again from Outlook, as .eml"):
        message = Message.load(stream)
        known = {name.lower(): value for name, value in message.message_headers.items()}
        to = ", ".join(f"{each.name} <{each.email_address}>" for each in message.recipients)
        date = str(message.sent_date or "") or known.get("date", "")
        headers = {"From": message.sender or known.get("from", ""), "To": to or known.get("to", ""), "Date": date}
        body = message.body or (visible_text(clean(message.html_body).encode()) if message.html_body else "")
        files = [(each.file_name or "unnamed", each.file_bytes or b"") for each in message.attachments]
        shown = {name: tidy(value) for name, value in headers.items()}
        return _laid_out(_Mail(tidy(message.subject or ""), shown, body, files), read)


def _laid_out(mail: _Mail, read: ReadAttachment) -> FileText:
    """The mail and its attachments, each under its name."""
    parts, faults = Parts(), list(mail.faults)
    lines = [f"{name}: {value}" for name, value in mail.headers.items() if value]
    # Without the marks of quoted replies, and without paragraphs that it has twice, as threads do.
    kept: dict[str, str] = {}
    for block in re.split(r"\n[^\S\n]*\n", _QUOTED.sub("", clean(mail.body))):
        if words := tidy(block):
            kept.setdefault(words, block.strip("\n").rstrip())
    body = "\n\n".join(kept.values())
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
        end = 0  # where an attachment has pages and the like, these are told behind its name
        for each in found.locations:
            gap = found.text[end : each.start] if end else "\n\n"
            text = found.text[each.start : each.end].rstrip()
            parts.add(text, f"{label}, {each.label}", gap)
            end = each.start + len(text)
        if not found.locations:
            parts.add(found.text, label)
    return parts.found(mail.subject or None, tuple(faults))


def _of_message(message: EmailMessage) -> _Mail:
    headers = {name: tidy(_header(message, name)) for name in _SHOWN_HEADERS}
    mail = _Mail(tidy(_header(message, "Subject")), headers, "")
    body: object = None
    # Without a part of its own for the words, the message is all words.
    for kind in ("plain", "html") if message.is_multipart() else ("",):
        part = message.get_body((kind,)) if kind else message
        is_words = message.get_content_maintype() in ("text", "multipart") and not message.is_attachment()
        if isinstance(part, EmailMessage) and not mail.body.strip() and (part is not message or is_words):
            body = part
            try:
                found = decode("message", _content(part), declared=part.get_content_charset() or "")
                if part.get_content_subtype() == "html":
                    found = replace(found, text=visible_text(found.text.encode()))
            except DocumentError as error:  # what is attached is read all the same
                found = Decoded("", (f"its words: {error.reason}",))
            mail.body, mail.faults = found.text, found.faults
    for part in _attached(message, body):
        name = part.get_filename() or "unnamed"
        if part.get_content_type() == "message/rfc822" and not name.endswith(".eml"):
            name = f"{part.get_filename() or 'message'}.eml"
        if name not in _SIGNATURES and part.get_content_subtype() not in _NO_WORDS:
            mail.attachments.append((name, _content(part)))
    return mail


def _header(message: EmailMessage, name: str) -> str:
    """A header, in whatever encoding: its own, or that which it looks like."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    said = decode(name, raw.encode("utf-8", "surrogateescape")).text
    with suppress(ValueError, MessageError):  # no encoded words
        return "".join(
            text if isinstance(text, str) else decode(name, text, declared=charset or "").text
            for text, charset in decode_header(said)
        )
    return said


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
        elif part is not body and (part.get_content_maintype() != "image" or part.is_attachment()):
            yield part  # no picture within the body


def _content(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, EmailMessage) else b""
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""
