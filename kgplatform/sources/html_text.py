"""HTML as text: all that a page shows, or its main text, without the menus and whatever else stands around it.

page = html_tree(source)
main_text(page)         # "Ada Lovelace\n\nAda was a mathematician …"; "" where nothing is shown
visible_text(source)    # the menus and the footer as well

Each row of a table is a line with the headings of its columns; cells over several rows stand in each. Tables that only
lay a page out, which have no headings or hold other tables, stay as they are.

Nothing here is recursive, and the time grows with the size of the page: pages may nest very deeply.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from kgplatform.sources.files.file_text import has_headings, lines
from kgplatform.text import tidy

if TYPE_CHECKING:
    import lxml.html  # type: ignore[import-untyped]  # publishes no types
    from lxml import etree

_INVISIBLE = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object", "select", "textarea")
_NEW_BLOCK_TAGS = (
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 "
    "h3 h4 h5 h6 head header hr main nav ol p pre section summary table ul"
)
_NEW_BLOCK = frozenset(_NEW_BLOCK_TAGS.split())
_NEW_LINE = frozenset(("br", "li", "tr"))
_CELL = frozenset(("td", "th"))
_KEPT = frozenset(("html", "body", "title"))


def html_tree(source: bytes) -> lxml.html.HtmlElement | None:
    """The parsed page; None where there is no element at all. ``source``: in UTF-8."""
    if not source.strip():
        return None
    page, is_whole = _parsed(source)
    if not is_whole:
        page, is_whole = _parsed(_ANY_TAG.sub(_shallow, source))
    if not is_whole:
        raise ValueError("nested too deeply")
    return page


_ANY_TAG = re.compile(rb"</?([a-z][\w-]*)[^<>]*>", re.I)


def _parsed(source: bytes) -> tuple[lxml.html.HtmlElement | None, bool]:
    """The page, and whether all of it is there: what is nested deeper than libxml2 goes ends its reading."""
    import lxml.html
    from lxml import etree

    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        page = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise
    return page, not any("Excessive depth" in each.message for each in parser.error_log)


def _shallow(tag: re.Match[bytes]) -> bytes:
    """What stands for ``tag`` where it cannot be nested: a paragraph, or nothing."""
    name = tag[1].decode("ascii", "replace").lower()
    if name in _INVISIBLE or name in _KEPT:
        return tag[0]
    return b"<p>" if _breaks(name) else b""


def visible_text(source: bytes) -> str:
    """All that a page shows, less its scripts and styles."""
    page = html_tree(source)
    return "" if page is None else shown_text(page)


def shown_text(page: lxml.html.HtmlElement, *, all_tables: bool = False) -> str:
    """The same of a page that is parsed: its scripts and styles are gone from it afterwards. ``all_tables``: none of
    its tables lays the page out, so that each row is a line."""
    _strip_invisible(page)
    return _layout(page, all_tables=all_tables)


_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def headings_of(page: lxml.html.HtmlElement, tags: Sequence[str] = _HEADINGS) -> list[str]:
    """The headings of a page as they read, or what else stands in ``tags``."""
    return [tidy("".join(each.itertext())) for each in page.iter(*tags)]


def main_text(page: lxml.html.HtmlElement) -> str:
    """The main text of a page; all that is visible where it has none. Scripts and styles are gone from it afterwards.

    Three steps: what is around the text by its tag or its name, then lists and boxes of links, are left out; what
    remains is the smallest part that holds nearly all paragraphs. A page of few paragraphs, such as a table of
    contents, is read after the first step.
    """
    _strip_invisible(page)
    around = _around(page, _weigh(page))
    weights = _weigh(page, around)
    if weights.prose[page] < _LITTLE * weights.letters[page]:
        return _layout(page, around) or _layout(page)
    # Lists and boxes that are mostly links, and not most of the page, go too.
    letters, linked = weights.letters, weights.linked
    around |= {
        element
        for element in page.iter("ul", "ol", "dl", "div", "section", "table", "p")
        if linked[element] > _LINKED * letters[element] and letters[element] <= _MOST_AROUND * letters[page]
    }
    return _layout(_smallest(page, _weigh(page, around)), around) or _layout(page)


def _strip_invisible(page: lxml.html.HtmlElement) -> None:
    from lxml import etree

    etree.strip_elements(page, *_INVISIBLE, with_tail=False)


_AROUND_TAGS = frozenset(("nav", "aside", "footer", "header", "menu", "dialog", "button", "form", "input"))
_AROUND_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alert", "alertdialog")
    + ("menu", "menubar", "toolbar", "tooltip", "tablist")
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_AROUND_NAMES = re.compile(
    r"(?<![^\W_])(?:"
    # ways through the site
    r"[a-z]*nav(?:igation|bar|s|header|footer|box|links?)?|menus?|side-?bar|foot(?:er)?|masthead|bread-?crumbs?|crumbs|"
    r"pagination|pager|tool(?:bar|s)|topbar|off-?canvas|drawer|dropdown|flyout|skip-?(?:link|to)\w*|search\w*|links?|"
    r"tags?|tag-?list|tagcloud|list-?group|utility|(?<!elementor-)widgets?|"
    # what readers say, and to whom they send it
    r"comments?(?:list|area)?|comentarios|kommentare?|disqus|respond|replies|ratings?|feedback|"
    r"(?:social|sharing|sharedaddy|addthis|addtoany)[a-z]*|shares?|follow\w*|print|noprint|printfriendly|contact|"
    # other texts
    r"related\w*|recommend\w*|recirc\w*|more-?(?:stories|articles|news|posts)|read-?more|also|trending|popular|"
    r"most-?(?:read|popular|viewed)|teaser\w*|jp-relatedposts|reflist|editsection|"
    # what is sold, asked for, and owed to the law
    r"promo\w*|advert\w*|ads?|adbox|banner|sponsor\w*|partners?|outbrain|taboola|newsletter\w*|subscri\w*|sign-?up|"
    r"sign-?in|login|paywall|cookies?|consent|gdpr|legal|disclaimer|copyright|pop-?up|modal|overlay|"
    # about the text and its pictures
    r"byline|author-?(?:bio|box|info)|meta|metadata|(?:post|entry)-?meta|address|galler(?:y|ies)|slide-?show|slides?|"
    r"carousel|captions?|credits?|"
    # shown to nobody
    r"hidden|sr-only|screen-reader-text|visually-?hidden"
    r")(?![^\W_])",
    re.I,
)
_TEXT_NAMES = re.compile(r"(?:article|page|main|post|entry|story)[-_]?(?:body|content|text)(?![^\W_])", re.I)
_NEVER_AROUND = frozenset(("html", "body", "main", "article"))
_WRAPPERS = _NEVER_AROUND | {"div", "section", "table", "tbody", "tr", "td", "center", "form", "font", "span"}
_PARAGRAPH = 40
"""Letters of a paragraph; what is shorter is more often a label."""
_MOST_AROUND = 0.5
"""Of the paragraphs of a page: what holds more of them is no surrounding, whatever its tag or role says."""
_MOST_NAMED = 0.4
"""The same, where only a name speaks for it."""
_LINKED = 0.5
"""Of its letters: a list or a box with more of them in links leads elsewhere."""
_LITTLE = 0.2
"""Of the letters of a page: with less of them in paragraphs, its lists are what it has to say."""
_NEARLY_ALL = 0.85


@dataclass(frozen=True, slots=True)
class _Weights:
    """Letters below each element: all, those in links, and those in paragraphs outside links."""

    letters: defaultdict[etree._Element, int]
    linked: defaultdict[etree._Element, int]
    prose: defaultdict[etree._Element, int]


def _weigh(page: lxml.html.HtmlElement, without: Set[etree._Element] = frozenset()) -> _Weights:
    letters, linked, prose, flow = (defaultdict[Any, int](int) for _ in range(4))
    for element in reversed(list(page.iter())):  # what is inside before what is around it
        if isinstance(element.tag, str) and element not in without:
            flow[element] += (own := _letters(element.text))
            letters[element] += own
            if element.tag == "a" and element.get("href"):
                linked[element], flow[element] = letters[element], 0
            if element.tag == "pre" or (_breaks(element.tag) and flow[element] >= _PARAGRAPH):
                prose[element] += flow[element]
        else:
            letters[element] = linked[element] = prose[element] = flow[element] = 0
        parent = element.getparent()
        if parent is not None:
            after = _letters(element.tail)
            letters[parent] += letters[element] + after
            linked[parent] += linked[element]
            prose[parent] += prose[element]
            flow[parent] += after + (0 if _breaks(element.tag) else flow[element])
    return _Weights(letters, linked, prose)


def _letters(text: str | None) -> int:
    return len("".join(text.split())) if text else 0


def _breaks(tag: object) -> bool:
    return tag in _NEW_BLOCK or tag in _NEW_LINE or tag in _CELL or tag == "html"


def _around(page: lxml.html.HtmlElement, weights: _Weights) -> set[etree._Element]:
    """What stands around the text by its tag, role or name, unless it holds much of the text itself."""
    counted = weights.prose if weights.prose[page] else weights.letters
    found, inside = set(), set()
    for element in page.iter("*"):
        if element.tag in ("main", "article") or element.getparent() in inside:
            inside.add(element)
        share = _most_around(element, element in inside)
        if share and counted[element] <= share * counted[page]:
            found.add(element)
    return found


def _most_around(element: etree._Element, in_article: bool) -> float:
    """How much of the page ``element`` may hold to be left out; 0 if nothing says that it is not of the text."""
    tag, get = element.tag, element.get
    if tag in _NEVER_AROUND or (tag == "header" and in_article):
        return 0
    if (
        tag in _AROUND_TAGS
        or get("role", "").lower() in _AROUND_ROLES
        or get("hidden") is not None
        or "true" in (get("aria-hidden"), get("aria-modal"))
        or _HIDDEN.search(get("style", ""))
    ):
        return _MOST_AROUND
    classes, own = get("class", ""), get("id", "")
    # An id may be made of a heading, "sharing-with-others": it counts as a whole alone.
    named = _AROUND_NAMES.search(classes) or _AROUND_NAMES.fullmatch(own)
    return _MOST_NAMED if named and not _TEXT_NAMES.search(f"{classes} {own}") else 0


def _smallest(page: lxml.html.HtmlElement, weights: _Weights) -> etree._Element:
    """The smallest part that holds nearly all paragraphs of each part around it."""
    found, prose = page, weights.prose
    while prose[found]:
        inner = max(found, key=lambda child: prose[child], default=None)
        if inner is None or inner.tag not in _WRAPPERS or prose[inner] < _NEARLY_ALL * prose[found]:
            break
        found = inner
    return found


def _layout(root: etree._Element, without: Set[etree._Element] = frozenset(), *, all_tables: bool = False) -> str:
    """The text below ``root``: white space folded, blocks apart by a blank line, cells by a bar."""
    lay_out_tables(root, without, look=all_tables)
    parts: list[str] = []
    # Not ``etree.iterwalk``: over many comments in a row, its time grows with their square.
    inside: list[tuple[etree._Element, Iterator[etree._Element]]] = []
    lined: list[etree._Element] = []  # elements around that keep their lines
    found: etree._Element | None = root
    while found is not None or inside:
        if found is None:
            element, _ = inside.pop()
            if lined and lined[-1] is element:
                lined.pop()
            parts += (_separator(element.tag, "end"), _folded(element.tail, lined) if inside else "")
        elif isinstance(found.tag, str):
            is_out = found in without
            parts.append(_separator(found.tag, "start"))
            if found.tag in _LINED or _LINED_STYLE.search(found.get("style", "")):
                lined.append(found)
            parts.append("" if is_out else _folded(found.text, lined))
            inside.append((found, iter(() if is_out else found)))
        else:  # a comment
            parts.append(_folded(found.tail, lined))
        found = next(inside[-1][1], None) if inside else None
    # Without what is blank at the ends of lines, the bars of empty cells among it.
    text = "".join(parts)
    spaced = re.sub(r"(\n- )\s+", r"\1", re.sub(r" +", " ", text))
    lines = "\n".join(line.lstrip(" ").rstrip(" |") for line in spaced.split("\n"))
    folded = re.sub(r"\n{3,}", "\n\n", lines).strip()
    return _BLANK_LINES.sub("", folded).translate(_SPACE_AGAIN).strip()


_LINED = ("pre", "listing", "xmp", "plaintext")
_LINED_STYLE = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.I)
_KEPT_SPACE = str.maketrans(" \n\t", "\ufdd0\ufdd1\ufdd2")
"""White space that is not to be folded, as characters that no text has."""
_BLANK_LINES = re.compile("\ufdd1[\ufdd0-\ufdd2]*(?=\n|$)|(?<=\n)(?:[\ufdd0\ufdd2]*\ufdd1)+")
"""Of such a part, at its end and at its beginning."""
_SPACE_AGAIN = str.maketrans("\ufdd0\ufdd1\ufdd2", " \n\t")


def _separator(tag: str, event: str) -> str:
    if tag in _NEW_BLOCK:
        return "\n\n"
    if tag in _NEW_LINE and event == "start":
        return "\n- " if tag == "li" else "\n"
    return " | " if tag in _CELL and event == "end" else ""


def _folded(text: str | None, lined: Sequence[etree._Element] = ()) -> str:
    if lined:
        return (text or "").translate(_KEPT_SPACE)
    return re.sub(r"\s+", " ", text) if text else ""


_CELLS = ("td", "th")
_MOST_SPAN = 1000
_MOST_REPEATED = 20
"""Times as many cells as are written may come of those that span several rows and columns."""
_LONGEST_CELL = 500
"""Letters: with more in one cell a table without headings is a way to lay a page out."""


def lay_out_tables(root: etree._Element, without: Set[etree._Element], *, look: bool = False) -> None:
    """Replace each row of each table below ``root`` that has headings by one cell that says it.

    ``without``: elements that are left out. ``look``: tables whose headings are not marked count as well, as do those
    without any, unless their cells are long.
    """
    for table in [each for each in root.iter("table") if each not in without]:
        if next(table.iterdescendants("table"), None) is None:
            rows = list(table.iter("tr"))
            grid = _grid(rows, without)
            if grid and (said := _said(rows, grid, look=look)) is not None:
                _replace(table, said)


def _said(rows: list[etree._Element], grid: list[list[str]], *, look: bool) -> list[str] | None:
    """The lines of a table; None if it is to stay as it is."""
    # Rows at the top are headings that are in ``thead``, else a first row of ``th`` alone.
    first = [each.tag for each in rows[0] if each.tag in _CELLS] if rows else []
    heads = sum(row.getparent().tag == "thead" for row in rows) or int(len(first) > 1 and set(first) == {"th"})
    if heads and len(grid) > heads:
        merged = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*grid[:heads], strict=True)]
        return lines([merged, *grid[heads:]], first=True)
    if not look or max(len(cell) for row in grid for cell in row) > _LONGEST_CELL:
        return None
    return lines(grid, first=has_headings(grid))


def _grid(rows: list[etree._Element], without: Set[etree._Element]) -> list[list[str]]:
    """The texts of all cells, those that span rows or columns in each; empty if that were too many."""
    cells = [[cell for cell in row if cell.tag in _CELLS] for row in rows]
    most = _MOST_REPEATED * (1 + sum(map(len, cells)))
    said: dict[tuple[int, int], str] = {}
    for at, row in enumerate(cells):
        column = 0
        for cell in row:
            while (at, column) in said:
                column += 1
            below = range(at, min(at + _span(cell, "rowspan"), len(rows)))
            beside = range(column, column + _span(cell, "colspan"))
            if len(said) + len(below) * len(beside) > most:
                return []
            said.update(dict.fromkeys(product(below, beside), _text(cell, without)))
    width = max((column + 1 for _, column in said), default=0)
    if not width or width * len(rows) > most:
        return []
    return [[said.get((at, column), "") for column in range(width)] for at in range(len(rows))]


def _span(cell: etree._Element, name: str) -> int:
    said = cell.get(name, "1").strip()
    return max(1, min(int(said), _MOST_SPAN)) if said.isdecimal() and len(said) < 9 else 1


def _text(cell: etree._Element, without: Set[etree._Element]) -> str:
    """All words of a cell on one line."""
    parts: list[str] = []
    waiting: list[etree._Element | str | None] = [*reversed(cell), cell.text] if cell not in without else []
    while waiting:
        each = waiting.pop()
        if each is None or isinstance(each, str):
            parts.append(each or "")
            continue
        waiting.append(each.tail)
        if isinstance(each.tag, str) and each not in without:
            waiting += [" " if each.tag in ("p", "br", "li", "div") else "", *reversed(each), each.text]
    return tidy("".join(parts))


def _replace(table: etree._Element, said: list[str]) -> None:
    caption, tail = table.find("caption"), table.tail
    for child in [each for each in table if each is not caption]:
        table.remove(child)
    table.text, table.tail = None, tail
    for line in said:
        row = table.makeelement("tr")
        cell = table.makeelement("td")
        cell.text = line
        row.append(cell)
        table.append(row)
