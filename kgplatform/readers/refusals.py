"""Whether an answer says that there is none: a member's of LongAgent, and any reader's when it is scored."""

from __future__ import annotations

import re

_SHORT = 20
"""Words. In a longer text a refusal counts only where it comes first."""

_PART = r"(?:document|passage|text|part|section|segment|chunk|excerpt|context|dictionary|list|article)s?"
_TEAM = r"(?:team|members?|reply|replies)"
_MENTION = (
    r"(?:\w+ly )?(?:contain|mention|name|say|state|specify|provide|include|give|tell|answer|refer|discuss|find|"
    r"indicate)"
)
_MENTIONED = (
    r"(?:\w+ly )?(?:found|mentioned|said|stated|specified|given|provided|available|included|contained|present|"
    r"discussed)"
)
_NOTHING = r"no (?:\w+ )?(?:mention|information|reference|evidence|answer)\b"
_THING = r"(?:any|an|the) (?:information|mention|reference|evidence|answer)"
_NOT = r"(?: not|n?['’]t)"  # "can't" has but one n
_REFUSALS = re.compile(
    rf"^\W*{_NOTHING}|\b(?:contains?|has|have|gives?|provides?|is|there['’]s) {_NOTHING}"
    rf"|\b{_PART}\b[^.;!?]{{0,40}}\b(?:does|do|did|is|are){_NOT} {_MENTION}|^\W*(?:does|do|did){_NOT} {_MENTION}"
    rf"|^\W*(?:it |this |that |the (?:answer|information|key|value) )?(?:is |was )?not {_MENTIONED}\W*$"
    rf"|\b{_TEAM}\b[^.;!?]{{0,20}}\b(?:does|do|did|is|are){_NOT} {_MENTION} (?:it|this|that|anything|{_THING})\b"
    rf"|\b{_PART}\b[^.;!?]{{0,40}}\b(?:says?|states?|mentions?|tells?|contains?|gives?) nothing\b"
    rf"|^\W*nothing (?:is |was )?{_MENTIONED}\b|\bnothing (?:about|on) [^.;!?]{{0,60}}\b{_PART}\b"
    rf"|\bnot {_MENTIONED} (?:\w+ )?(?:in|by|within) (?:[\w'’]+ ){{1,3}}?(?:{_PART}|{_TEAM})\b"
    rf"|^\W*(?:i |we |sorry,? (?:but )?i )?(?:could|can)(?:not|{_NOT}) (?:be )?(?:find|found|determine|answer|locate)"
    rf"|\b(?:cannot|can{_NOT}) be (?:answered|determined|found)\b|\bunable to (?:find|answer|determine|locate)\b"
    r"|\bunanswerable\b|^\W*n/a\W*$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?\n—–](?:\s|$)|,\s")
_BUT = re.compile(r"\b(?:but|however|although|though|except)\b", re.IGNORECASE)


def is_members_refusal(content: str) -> bool:
    """Whether an answer says that there is none, in whatever words of English; empty says so too.

    In a longer answer the refusal must be its first clause, and what follows must not take it back.
    """
    content = " ".join(content.split())
    if not re.search(r"\w", content):
        return True
    end = _CLAUSE_END.search(content)
    first = content[: end.start()] if end and len(content.split()) > _SHORT else content
    found = _REFUSALS.search(first)
    return found is not None and not _BUT.search(content, found.end())
