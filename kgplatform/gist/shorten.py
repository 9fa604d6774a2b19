"""Memory gisting (section 3.1, figure 3): a page, shortened by the model, without tags and remarks.

gist = shorten(chat, page_text, options)
gist.text, gist.flag, gist.malformed      # 'Ada sails to Brest.', '', ()
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgplatform.gist.options import GistOptions
from kgplatform.gist.pagination import length
from kgplatform.ingest.cut import cut_document
from kgplatform.models.chat import Chat, Reply
from kgplatform.models.json_text import without_thoughts
from kgplatform.prompt import Messages, render
from kgplatform.records import Document
from kgplatform.sentences import ranked_sentences
from kgplatform.text import node_id

STAGE = "gist"
_PROMPT = "gist/gist"

BEGINNING = "beginning"
OWN_TEXT = "own text"
"""Flags of a page: its gist is its first words, for the model wrote none; or all of it, for the model's was longer."""

EMPTY = "empty gist"
CUT_OFF = "gist that was cut off"
TAGGED = "gist with a page tag"
REMARKED = "gist with a remark before it"
LONGER = "gist longer than its page"

_FIRST_WORDS = 60
_FIRST_TOKENS = 160
_REMINDER = "Write the shortened passage itself, complete, and nothing else."
_AGAIN = (
    "- It was shortened before. Shorten it again, to about half: what happened long ago is remembered in outline only."
)

_TAG = re.compile(r"[ \t]*</?\s*(?:page|text-[0-9a-f]{6,})\b[^<>\n]{0,20}>[ \t]*\n?", re.IGNORECASE)
_FIRST_TAG = re.compile(r"[*#_\s]*(?:\(page\s+\d+\)|\[page\s+\d+\]|page\s+\d+\s*(?::|\n))[*_:]*\s*", re.IGNORECASE)
_SHORT = r"(?:shortened|condensed|abridged|shorter|brief|concise)"
_REMARK = re.compile(
    r"\s*[*#_]*(?:(?:sure|certainly|okay|ok|of course|absolutely)\b[,.!]*\s*)?"
    rf"(?:(?:here\s*(?:'s|’s|is|are)|below is|this is|the following is)\b[^\n:]{{0,80}}?\b{_SHORT}\b[^\n:]{{0,80}}"
    rf"|(?:the |a |my )?{_SHORT} (?:version|passage|text|form)\b[^\n:]{{0,60}}|(?:gist|summary|shortened))"
    r"[*_]*:[*_]*\s*",
    re.IGNORECASE,
)
_FENCED = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Gist:
    """A shortened page. ``flag``: '', "beginning" or "own text". ``malformed``: what had to be put right on the way."""

    text: str
    flag: str = ""
    malformed: tuple[str, ...] = ()


def shorten(chat: Chat, page: str, options: GistOptions) -> Gist:
    """The gist of ``page``. Where a reply has none or was cut off, it is asked for once more. Raises ``ModelError``.

    Without a gist then, the page's first words are; a gist that is longer than its page is left for the page's text.
    """
    text, malformed = _asked(chat, gist_messages(page, options), STAGE)
    if not text:
        return Gist(beginning(page), BEGINNING, malformed)
    if length(text) > length(page):
        return Gist(page.strip(), OWN_TEXT, (*malformed, LONGER))
    return Gist(text, "", malformed)


def shorten_again(chat: Chat, gist: str, options: GistOptions) -> Gist:
    """A ``gist`` shortened once more (appendix F.3); empty where the model wrote none. Raises ``ModelError``."""
    text, malformed = _asked(chat, gist_messages(gist, options, again=True), "shorten")
    return Gist(text, "", malformed)


def gist_messages(passage: str, options: GistOptions, *, again: bool = False) -> Messages:
    """The prompt to shorten ``passage``. The user's question and instruction are rules; the passage is data."""
    return render(
        _PROMPT,
        noun=options.kind.noun,
        rules=_rules(options, again=again),
        fence=f"text-{node_id(passage)[:12]}",
        passage=passage.strip(),
    )


def _rules(options: GistOptions, *, again: bool) -> str:
    rules = [f"- {options.kind.gist}"] if options.kind.gist else []
    if options.question:
        rules.append(
            f"- The reader wants to know: {options.question} Keep all that bears on that; the rest may be very short."
        )
    if options.instruction:
        rules.append(f"- The reader asks besides: {options.instruction}")
    if again:
        rules.append(_AGAIN)
    return "".join(f"{rule}\n" for rule in rules)


def _asked(chat: Chat, messages: Messages, stage: str) -> tuple[str, tuple[str, ...]]:
    """What the model wrote, asked at most twice, and what was wrong with it; empty where it wrote nothing twice."""
    reply = chat.send(messages, stage=stage)
    text, malformed = _read(reply)
    if text and not reply.cut_off:
        return text, malformed
    asked_again = [
        *messages,
        {"role": "assistant", "content": reply.text if reply.text.strip() else "(nothing)"},
        {"role": "user", "content": _REMINDER},
    ]
    again = chat.send(asked_again, stage=stage)
    later, more = _read(again)
    if again.cut_off or not later:
        later = _whole_sentences(later) or _whole_sentences(text)
    return later, (*malformed, *more)


def _read(reply: Reply) -> tuple[str, tuple[str, ...]]:
    text, malformed = clean(without_thoughts(reply.text, cut_off=reply.cut_off))
    if reply.cut_off:
        return text, (*malformed, CUT_OFF)
    return text, malformed if text else (*malformed, EMPTY)


def clean(reply: str) -> tuple[str, tuple[str, ...]]:
    """``reply`` without page tags, a remark before it and a code fence round it; and which of those it had.

    >>> clean("Here is the shortened passage:\\n<Page 3>\\nAda sails to Brest.")
    ('Ada sails to Brest.', ('gist with a page tag', 'gist with a remark before it'))
    """
    text, tags = _TAG.subn("", reply)
    malformed: list[str] = []
    remarked = False
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
    while (found := _FIRST_TAG.match(text) or _REMARK.match(text)) and found.end():
        is_tag = _FIRST_TAG.match(text) is not None
        tags, remarked = tags + is_tag, remarked or not is_tag
        text = text[found.end() :]
    malformed += [TAGGED] if tags else []
    malformed += [REMARKED] if remarked else []
    return text.strip(), tuple(malformed)


def _whole_sentences(text: str) -> str:
    """``text``, which breaks off, up to the end of its last complete sentence; empty if it has none."""
    ends = [end for _, end, _ in ranked_sentences(text)]
    return text[: ends[-2]].strip() if len(ends) > 1 else ""


def beginning(page: str) -> str:
    """The first 60 words of ``page``, or about as much of a text that white space does not part."""
    words = " ".join(page.split()[:_FIRST_WORDS])
    passages = cut_document(Document("", "", "", "", words, ""), _FIRST_TOKENS)
    return passages[0].text if passages else ""
