"""The words of files, by readers of others. Runs in an environment of its own, without kgplatform.

    python read_files.py LIST RESULT

LIST is a JSON list of paths, RESULT a JSON object that has by path the text, or none where no reader reads it.
"""

import email
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from email import policy
from pathlib import Path
from typing import Any

_SECONDS = 30
_LABELS = re.compile(
    r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)|^### Notes:|^# Email Message|^## Content|\*\*\w+:\*\*", re.S | re.M
)
"""What markitdown itself says: numbers of slides, names of pictures, labels of headers."""


def _pandoc(path: Path) -> str:
    import pypandoc

    return str(pypandoc.convert_file(str(path), "plain", extra_args=["--wrap=none"]))


def _markitdown(path: Path) -> str:
    from markitdown import MarkItDown

    return _LABELS.sub("", str(MarkItDown().convert(str(path)).text_content))


def _pdf(path: Path) -> str:
    """By Poppler's program, where it is installed."""
    return subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True).stdout.decode(
        "utf-8", "replace"
    )


def _xlsx(path: Path) -> str:
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True, read_only=True)
    cells = (cell for sheet in book.worksheets for row in sheet.iter_rows(values_only=True) for cell in row)
    return " ".join(cell for cell in cells if isinstance(cell, str))


def _xls(path: Path) -> str:
    import xlrd

    book = xlrd.open_workbook(path)
    values = (value for sheet in book.sheets() for row in range(sheet.nrows) for value in sheet.row_values(row))
    return " ".join(value for value in values if isinstance(value, str))


def _xlsb(path: Path) -> str:
    from pyxlsb import open_workbook

    with open_workbook(str(path)) as book:
        cells = [cell.v for name in book.sheets for row in book.get_sheet(name).rows() for cell in row]
    return " ".join(each for each in cells if isinstance(each, str))


def _open_document(path: Path) -> str:
    from odf import teletype
    from odf.opendocument import load
    from odf.text import H, P

    body = load(str(path)).body
    return "\n".join(teletype.extractText(each) for kind in (P, H) for each in body.getElementsByType(kind))


def _mail(path: Path) -> str:
    message = email.message_from_bytes(path.read_bytes(), policy=policy.default)
    body: Any = message.get_body(("plain",))
    return f"{message['subject']} {body.get_content()}" if body is not None else ""


def _as_it_is(path: Path) -> str:
    return path.read_text("utf-8")


READERS: dict[str, Callable[[Path], str]] = {
    **dict.fromkeys(("docx", "odt", "epub", "rst", "rtf"), _pandoc),
    **dict.fromkeys(("pptx", "msg"), _markitdown),
    **dict.fromkeys(("ods", "odp"), _open_document),
    **dict.fromkeys(("csv", "tsv"), _as_it_is),
    **{"xlsx": _xlsx, "xls": _xls, "xlsb": _xlsb, "pdf": _pdf, "eml": _mail},
}


def _too_long(*_: object) -> None:
    raise TimeoutError


def main(listed: str, result: str) -> None:
    """Read what is listed, each file within half a minute."""
    signal.signal(signal.SIGALRM, _too_long)
    texts = {}
    for name in json.loads(Path(listed).read_text("utf-8")):
        signal.alarm(_SECONDS)
        try:
            texts[name] = READERS[name.rpartition(".")[2].lower()](Path(name))
        except Exception:  # noqa: BLE001 -- readers of others raise anything; what they cannot read is not compared
            continue
        finally:
            signal.alarm(0)
    Path(result).write_text(json.dumps(texts), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
