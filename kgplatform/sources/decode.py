"""What a file's bytes are: a document format, something that is not text, or text in some encoding.

The bytes decide, not the name: a JPEG called ``notes.txt`` is an image, a PDF called ``notes.txt`` is a PDF.
"""

from __future__ import annotations

import codecs
import json
import logging
import re
from contextlib import suppress

from kgplatform.errors import DocumentError

HEAD_BYTES = 8192

# What a file is, by (offset, first bytes). Those of the next tables also occur as the first letters of plain text.
_SIGNATURES: dict[str, tuple[tuple[int, bytes], ...]] = {
    "an image (JPEG)": ((0, b"\xff\xd8\xff"),),
    "an image (PNG)": ((0, b"\x89PNG\r\n\x1a\n"),),
    "an image (TIFF)": ((0, b"II*\0"), (0, b"MM\0*")),
    "an image (GIF)": ((0, b"GIF87a"), (0, b"GIF89a")),
    "an image (Photoshop)": ((0, b"8BPS"),),
    "an image (WebP)": ((8, b"WEBP"),),
    "an image (HEIC)": ((4, b"ftyphei"), (4, b"ftypmif")),
    "an image (AVIF)": ((4, b"ftypavif"),),
    "an image (icon)": ((0, b"\0\0\1\0"),),
    "a video or sound recording (MPEG-4)": ((4, b"ftyp"),),
    "a sound recording (WAV)": ((8, b"WAVE"),),
    "a video (AVI)": ((8, b"AVI "),),
    "a sound recording (MP3)": ((0, b"ID3"), (0, b"\xff\xfb"), (0, b"\xff\xf3")),
    "a sound recording (Ogg)": ((0, b"OggS"),),
    "a sound recording (FLAC)": ((0, b"fLaC"),),
    "a video (Matroska)": ((0, b"\x1aE\xdf\xa3"),),
    "an archive (gzip)": ((0, b"\x1f\x8b"),),
    "an archive (bzip2)": ((0, b"BZh"),),
    "an archive (xz)": ((0, b"\xfd7zXZ\0"),),
    "an archive (7-Zip)": ((0, b"7z\xbc\xaf\x27\x1c"),),
    "an archive (Zstandard)": ((0, b"\x28\xb5\x2f\xfd"),),
    "an archive (RAR)": ((0, b"Rar!\x1a\x07"),),
    "an archive (tar)": ((257, b"ustar"),),
    "an empty archive (ZIP)": ((0, b"PK\5\6"),),
    "a program": ((0, b"\x7fELF"), (0, b"\xca\xfe\xba\xbe"), (0, b"\xcf\xfa\xed\xfe")),
    "a program (WebAssembly)": ((0, b"\0asm"),),
    "a database (SQLite)": ((0, b"SQLite format 3\0"),),
    "a table (Parquet)": ((0, b"PAR1"),),
    "a font": ((0, b"wOFF"), (0, b"wOF2"), (0, b"\0\1\0\0\0")),
}
_BINARY_IF_NUL: tuple[tuple[bytes, str], ...] = ((b"BM", "an image (bitmap)"), (b"MZ", "a program (Windows)"))
_TEXT_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%!PS", "PostScript: turn it into a PDF"),
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the file: run `git lfs pull`"),
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# One encoding a script and platform: the more candidates, the more often a short text fits the wrong one.
_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp866", "cp874"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
_SAMPLE_BYTES = 65536
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_MAX_CONTROL_SHARE = 0.02
_FEW_CONTROL = 2
"""So many control characters are a bell or a slip in a text, however short it is, if it says something besides."""
_COMMON_CHARACTERS = frozenset(" \n.,e，。、的の一")
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]", re.S | re.I)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html)[\s>]", re.S | re.I
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.I)

# Without a handler of its own, a library's warnings would go to the terminal.
logging.getLogger("charset_normalizer").addHandler(logging.NullHandler())


def foreign_format(head: bytes) -> str | None:
    """What ``head``, the first bytes of a file, says that the file is, if that is not text: "an image (JPEG)"."""
    for noun, marks in _SIGNATURES.items():
        if any(head.startswith(magic, offset) for offset, magic in marks):
            return f"{noun}, not text"
    for magic, noun in _BINARY_IF_NUL:
        if head.startswith(magic) and b"\0" in head:
            return f"{noun}, not text"
    if _SVG.match(head):
        return "an image (SVG), not text"
    return next((noun for magic, noun in _TEXT_SIGNATURES if head.startswith(magic)), None)


def is_pdf(head: bytes, suffix: str) -> bool:
    """True for PDF; a file that is called so may have up to a kilobyte of rubbish before the header."""
    return head.lstrip().startswith(b"%PDF-") or (suffix == ".pdf" and b"%PDF-" in head[:1024])


def is_zip(head: bytes) -> bool:
    """True for a ZIP archive, which a DOCX file is."""
    return head.startswith(b"PK\3\4")


def is_html(head: bytes) -> bool:
    """True if the text starts like an HTML page."""
    return _HTML.match(head.removeprefix(codecs.BOM_UTF8)) is not None


def decode(path: str, data: bytes, *, html: bool = False) -> str:
    """The text of ``data``; with ``html``, a charset that the page declares is believed if it is not UTF-8.

    Raises ``DocumentError`` for binary data and for text whose encoding is unknown.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decode_all(path, data, encoding)
    refuse_binary(path, data[:_SAMPLE_BYTES])
    if wide := _utf16(data[:_SAMPLE_BYTES]):
        return _decode_all(path, data, wide)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if html and (found := _META_CHARSET.search(data[:HEAD_BYTES])):
            with suppress(LookupError, UnicodeDecodeError):
                return data.decode(found[1].decode("ascii"))
        return _guess(path, data, error)


def _decode_all(path: str, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-sig").upper()
        reason = f"starts as {name}, but is not valid {name} at byte {error.start + 1}: save it again as UTF-8"
        raise DocumentError(path, reason) from error


def refuse_binary(path: str, sample: bytes) -> None:
    """Raise ``DocumentError`` if ``sample``, the first bytes of a file, has too many control characters for a text."""
    if _has_control(sample) and not any(sample.startswith(mark) for mark, _ in _BOMS) and not _utf16(sample):
        raise DocumentError(path, "binary data, not text")


def _has_control(sample: bytes) -> bool:
    found = len(sample) - len(sample.translate(None, _CONTROL))
    return found > _MAX_CONTROL_SHARE * len(sample) and (found > _FEW_CONTROL or 4 * found >= len(sample))


def _utf16(sample: bytes) -> str | None:
    """The UTF-16 byte order in which ``sample``, without a mark, reads well: the one with more common characters.

    Without control bytes it cannot be UTF-16: every ASCII character would bring a zero.
    """
    best = (0, "")
    for encoding in ("utf-16-le", "utf-16-be") if _has_control(sample) else ():
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(sample)
        except UnicodeDecodeError:
            continue
        common = sum(character in _COMMON_CHARACTERS for character in text)
        strange = sum(not character.isprintable() and not character.isspace() for character in text)
        if strange <= _MAX_CONTROL_SHARE * len(text) and common * 100 >= len(text):
            best = max(best, (common, encoding))
    return best[1] or None


def _guess(path: str, data: bytes, error: UnicodeDecodeError) -> str:
    """The text in the encoding that the bytes beyond ASCII speak for."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    good = sum(not character.isascii() for character in text) - broken
    if good >= 3 and good > 4 * broken:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(path, f"broken UTF-8 in line {line}: correct that place, or save the file again as UTF-8")
    encoding = _likely_encoding(_telling_lines(data))
    try:
        if encoding:
            return data.decode(encoding)
    except UnicodeDecodeError as failed:
        raise DocumentError(path, f"neither UTF-8 nor {encoding} throughout: save it again as UTF-8") from failed
    raise DocumentError(path, "not text, or in an unknown encoding: save it as UTF-8")


def _telling_lines(data: bytes) -> bytes:
    """The lines beyond ASCII, some 64 KB of them: the rest says nothing about the encoding."""
    lines = b"".join(line for line in data.splitlines(keepends=True) if not line.isascii())
    end = lines.find(b"\n", _SAMPLE_BYTES)
    return lines if end < 0 else lines[: end + 1]


def _likely_encoding(sample: bytes) -> str | None:
    """The best fit; Western European where nothing speaks for another one and most letters are ASCII."""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=_ENCODINGS, enable_fallback=False)
    best = matches.best()
    if best is None:
        return None
    same = {other for match in matches if match.chaos == best.chaos for other in match.could_be_from_charset}
    no_language = best.coherence == 0
    is_mostly_ascii = sum(byte > 127 for byte in sample) * 3 <= len(sample)
    if "cp1252" in same and (not no_language or is_mostly_ascii):
        western = next(match for match in matches if "cp1252" in match.could_be_from_charset)
        if western.coherence >= best.coherence - 0.02:
            return "cp1252"
    return None if no_language else best.encoding


def is_json_object(line: str) -> bool:
    """Whether ``line`` is a whole JSON object, as every line of JSON Lines is."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
