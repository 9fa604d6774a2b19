"""What a file's bytes are: a document format, something that is not text, or text in some encoding.

The bytes decide, not the name: a JPEG called ``notes.txt`` is an image, a PDF called ``notes.txt`` is a PDF.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, replace

from kgplatform.errors import DocumentError
from kgplatform.sources.files.file_text import clean
from kgplatform.text import counted

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
_SAMPLE_BYTES = 65536
_SHIFT = b"\x1b$"
"""Where ISO 2022 leaves ASCII."""
_CONTROLS = re.compile("[\x80-\x9f]")
_WINDOWS = {
    **{"iso8859-2": "cp1250", "iso8859-5": "cp1251", "iso8859-7": "cp1253", "iso8859-8": "cp1255"},
    **{"iso8859-6": "cp1256", "iso8859-4": "cp1257", "iso8859-13": "cp1257", "iso8859-15": "cp1252"},
}
"""Of each script, the encoding of Windows beside that of ISO; browsers join those of Latin-1, Turkish and Thai."""
_SLIP = 5
"""One of so many characters beyond ASCII may stand for nothing, and one of a text that has few."""
_SHORT, _FEW_LETTERS = 32, 4
"""A text of less bytes, with less beyond ASCII, tells no encoding: it is taken for one of Western Europe."""
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_MAX_CONTROL_SHARE = 0.02
_FEW_CONTROL = 2
"""So many control characters are a bell or a slip in a text, however short it is, if it says something besides."""
_COMMON_CHARACTERS = frozenset(" \n.,e，。、的の一")
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]", re.S | re.I)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html)[\s>]", re.S | re.I
)
_DECLARED = re.compile(
    rb"\A\s*(?:<\?xml[^>]{0,200}?\bencoding\s*=\s*|@charset\s+)[\"']([\w.:-]{2,40})[\"']"
    rb"|<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})"
    rb"|\A(?:[^\n]*\n)?[^\w\n]{1,8}[^\n]*?coding[:=]\s*([\w.-]{2,40})",
    re.I,
)
"""A declaration: in XML, in CSS, in HTML, and in the comment that editors and Python read."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and what is not sure of it: "read as windows-1250, a guess"."""

    text: str
    faults: tuple[str, ...] = ()


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


def is_html(head: bytes) -> bool:
    """True if the text starts like an HTML page."""
    return _HTML.match(head.removeprefix(codecs.BOM_UTF8)) is not None


def decode(path: str, data: bytes, *, declared: str = "", encoding: str = "") -> Decoded:
    """The text of ``data`` as ``clean`` leaves it: by its byte order mark; as UTF-8, if it is that; in ``encoding``, if
    somebody says so; in the one that it, or its mail, has ``declared``, as browsers understand that; or by a guess.

    A guess is a fault, and so is a byte that stands for nothing there: U+FFFD takes its place. Raises ``DocumentError``
    for binary data.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _lenient(path, data, name)
    refuse_binary(path, data[:_SAMPLE_BYTES])
    if wide := _utf16(data[:_SAMPLE_BYTES]):
        return _lenient(path, data, wide)
    if _SHIFT not in data:
        with suppress(UnicodeDecodeError):
            return Decoded(clean(data.decode("utf-8")))
    if encoding:
        return _lenient(path, data, codec_of(encoding))
    return _as_declared(path, data, declared) or _guess(path, data)


def _as_declared(path: str, data: bytes, declared: str) -> Decoded | None:
    """None where nothing is declared, or the bytes are not of it."""
    found = _DECLARED.search(data[:HEAD_BYTES])
    codec = codec_of(declared) or codec_of(next(filter(None, found.groups())).decode("ascii") if found else "")
    if not codec or codec.startswith("utf-16"):
        return None
    with suppress(DocumentError):
        decoded = _lenient(path, data, codec)
        # No text has the controls of ISO 8859: they are letters of Windows, declared under the wrong name.
        return _lenient(path, data, _WINDOWS.get(codec, codec)) if _CONTROLS.search(decoded.text) else decoded
    return None


def codec_of(label: str) -> str:
    """Python's name of the encoding that browsers read under ``label``, else of the one called so; "" for none."""
    from webencodings import lookup  # type: ignore[import-untyped]  # publishes no types

    with suppress(LookupError, ValueError, UnicodeError):
        found = lookup(label)
        name = found.codec_info.name if found and found.name != "replacement" else codecs.lookup(label).name
        "".encode(name)  # a codec of bytes, such as zip, is refused
        return "gb18030" if name == "gbk" else name
    return ""


def _lenient(path: str, data: bytes, codec: str) -> Decoded:
    """``data`` in ``codec``. Raises ``DocumentError`` where more than a slip stands for nothing there."""
    text = data.decode(codec, "replace")
    broken = text.count("\ufffd") - (data.decode(codec, "ignore").count("\ufffd") if "\ufffd" in text else 0)
    if broken * _SLIP > sum(not character.isascii() for character in text) + _SLIP:
        raise DocumentError(path, f"not text, or not in {_shown(codec)}: save it again as UTF-8")
    return Decoded(
        clean(text), (f"{counted(broken, 'place')} not in {_shown(codec)}, shown as \ufffd",) if broken else ()
    )


def refuse_binary(path: str, sample: bytes) -> None:
    """Raise ``DocumentError`` if ``sample``, the first bytes of a file, has too many control characters for a text."""
    if _has_control(sample) and not any(sample.startswith(mark) for mark, _ in _BOMS) and not _utf16(sample):
        raise DocumentError(path, "binary data, not text")


def _has_control(sample: bytes) -> bool:
    found = len(sample) - len(sample.translate(None, _CONTROL))
    return found > _MAX_CONTROL_SHARE * len(sample) and (found > _FEW_CONTROL or 4 * found >= len(sample))


def _utf16(sample: bytes) -> str | None:
    """The UTF-16 byte order in which ``sample``, without a mark, reads well: the one with more common characters.
    Without control bytes it cannot be UTF-16: every ASCII character would bring a zero."""
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


def _guess(path: str, data: bytes) -> Decoded:
    """The text in the encoding that the bytes beyond ASCII speak for."""
    from chardet import detect

    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    good = sum(not character.isascii() for character in text) - broken
    if 0 < 3 * broken <= good:  # no other encoding has such sequences by chance
        return _lenient(path, data, "utf-8")
    # The lines beyond ASCII, some 64 KB of them: the rest says nothing about the encoding.
    lines = b"".join(line for line in data.splitlines(keepends=True) if not line.isascii() or _SHIFT in line)
    end = lines.find(b"\n", _SAMPLE_BYTES)
    sample = lines if end < 0 else lines[: end + 1]
    codec = codec_of(detect(_DECLARED.sub(b"", sample))["encoding"] or "")  # it would be believed
    if not codec or (len(sample) < _SHORT and sum(byte > 127 for byte in sample) < _FEW_LETTERS):
        codec = "cp1252"
    decoded = _lenient(path, data, codec)
    guess = f"it declares no encoding, or a wrong one: read as {_shown(codec)}, a guess (KGPLATFORM_ENCODING decides)"
    return replace(decoded, faults=(guess, *decoded.faults))


def _shown(codec: str) -> str:
    """``codec`` as the web names it, if it does."""
    from webencodings import lookup

    found = lookup(codec.removesuffix("-sig"))
    return found.name if found else codec
