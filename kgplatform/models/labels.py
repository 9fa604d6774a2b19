"""Free text with labels, as models write it that keep to no form: headings, bold, without a colon, in their language.

    labelled("### Updated Notebook\\nA is B.\\n**Chosen Action** search_more()", "notebook", "action")
    # {'notebook': 'A is B.', 'action': 'search_more()'}

The labels are those that prompts ask for, and what models make of them. The last of a kind counts. What else stands for
JSON is here too: the names of a form's fields as labels, tables, YAML, and marks round a final answer.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic import BaseModel

from kgplatform.models.json_text import value_of
from kgplatform.models.lenient import keys_of
from kgplatform.text import type_key

_GAP = r"[ _-]?"
_UNSURE = "_unsure"
_SURE = {
    "plan": "rational plan|vernünftiger plan|plan rationnel|plan racional|理性计划|合理的?计划|合理的な計画",
    "notebook": (
        "(?:updated|new|current) (?:notebook|notes?)|aktualisierte[sr]? (?:notizbuch|notizen)|notizbuch"
        "|(?:carnet|cahier)(?: de notes)?(?: (?:mis à jour|actualisé))?|notes mises à jour"
        "|(?:cuaderno|libreta)(?: de notas)?(?: actualizad[oa])?|notas actualizadas|taccuino(?: aggiornato)?"
        "|更新后?的?(?:笔记本?|筆記本?)|笔记本|更新(?:された|後の)ノート(?:ブック)?|обновл[её]нный блокнот|блокнот"
    ),
    "rationale": (
        "rationale(?: for)?(?: the)?(?: next)?(?: action)?|reason for (?:the )?next action|begründung(?: der nächsten "
        "aktion)?|justification(?: de (?:la prochaine action|l['’]action suivante))?|justificación(?: de la siguiente "
        "acción)?|(?:下一步(?:行动|操作)的?)?理由|(?:次の(?:行動|アクション)の)?(?:理由|根拠)|обоснование"
    ),
    "action": (
        "(?:chosen|selected|next) (?:action|function)|(?:gewählte|ausgewählte|nächste) aktion|action (?:choisie|"
        "sélectionnée|suivante)|prochaine action|acción (?:elegida|seleccionada|siguiente)|azione scelta"
        "|(?:所?选择?的|下一步)(?:行动|操作|动作|函数)|選択した(?:行動|アクション)|выбранное действие"
    ),
    "answer": (
        "final (?:answer|response)|(?:endgültige|finale|abschließende) antwort|réponse (?:finale|définitive)"
        "|respuesta final|risposta finale|resposta final|最终(?:答案|回答)|最終(?:的な)?(?:回答|答え)"
        "|окончательный ответ"
    ),
}
_MAYBE = {
    "plan": "plan|计划|計画|план",
    "notebook": "notebook|notes?|notizen|notas|笔记|筆記|ノート(?:ブック)?|заметки",
    "rationale": "reason(?:ing)?|thoughts?|analy[sz]e|analysis|explanation|analyse|análisis|分析|解释",
    "action": "action|function(?: call)?|aktion|acción|azione|行动|操作|动作|行動|アクション|действие",
    "answer": "(?:the )?(?:correct )?answer|antwort|réponse|respuesta|risposta|resposta|答案|回答|答え|ответ",
}
"""Words that stand for a label only where no sure one of its kind stands in the reply."""


# Bullets, hashes, bold, numbers and the like before a label; "here is my", "the".
_START = r"^(?:[^\w\n]|_)*(?:\d{1,2}[.)](?:[^\w\n]|_)*)?(?:(?:here(?: is|['’]s) |this is )?(?:my|the) )?"
_END = r"[*_`\"'’”\]】」)]*[ \t]*(?:[(（][^)）\n]{0,60}[)）])?[*_` \t]*(?:[:：=][*_`]*|[–—-](?=[ \t]))?"
_IS = re.compile(r"\A\s*(?:is|lautet|ist|est|es|是|は)\b[ \t]*[:：]?", re.IGNORECASE)
_ROUND = re.compile(r"\A(?:\s|```\w*\n|-{3,}\n|[*_]{2,}(?=\s))+|(?:\s|\n```|\n-{3,}|(?<=\s)[*_#]{2,})+\Z")
_FINAL = re.compile(
    r"<answer>(.*?)</answer>|[^\n.!?]{0,120}\\boxed\{(?:\\\w+\{)?([^{}]*)\}{1,2}[$.]*",
    re.DOTALL | re.IGNORECASE,
)
_ROW = re.compile(r"^\s*\|[\s*_`]*(?P<key>[^|\n]+?)[\s*_`]*\|\s*(?P<value>[^|\n]+?)\s*\|\s*$", re.MULTILINE)
_FIELD = re.compile(r"^(?:[^\w\n]|_)*(?P<key>[^\W\d_][\w ]{0,30}?)[*_`]*(?:\s?[:：][*_`]*|[ \t]*$)", re.MULTILINE)
_BULLET = re.compile(r"^\s*[-*•]\s+", re.MULTILINE)
_ALIAS = re.compile(r"(?:^|\s)[&*]\w", re.MULTILINE)
_FENCE = re.compile(r"```\w*\n?(.*?)```", re.DOTALL)


def labelled(text: str, *kinds: str) -> dict[str, str]:
    """What stands under the last label of each of ``kinds``, up to the next label; nothing for a text without any."""
    found = [mark for mark in _pattern(kinds).finditer(text) if _is_label(mark, text)]
    sure = {mark.lastgroup for mark in found}
    marks = [mark for mark in found if _kind(mark) == mark.lastgroup or _kind(mark) not in sure]
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    parts: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        after = text[mark.end() : end]
        words = _ROUND.sub("", after if ":" in mark[0] else _IS.sub("", after, count=1))
        parts[_kind(mark)] = words or parts.get(_kind(mark), "")
    return parts


def with_final_answer(text: str) -> str:
    """``text`` with a label for the answer in ``<answer>`` and in mathematicians' ``\\boxed{}``."""
    return _FINAL.sub(lambda found: f"\nAnswer: {(found[1] or found[2] or '').strip()}", text).strip()


def labelled_fields(text: str, form: type[BaseModel]) -> dict[str, Any]:
    """What stands under the first names of two fields of ``form`` or more, as labels or headings or in the first column
    of a table; else nothing."""
    keys = (keys_of(name, field)[0] for name, field in form.model_fields.items())
    names = {type_key(key): key for key in keys}
    text = _ROW.sub(lambda row: f"{row['key']}: {row['value']}" if type_key(row["key"]) in names else row[0], text)
    marks = [mark for mark in _FIELD.finditer(text) if type_key(mark["key"]) in names]
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    parts = zip(marks, ends, strict=True)
    found = {names[type_key(mark["key"])]: _value(text[mark.end() : end]) for mark, end in parts}
    return found if len(found) > 1 else {}


def yaml_value(text: str) -> Any:
    """The value of YAML with a list of objects in it; None for any other text, and for YAML that refers to its parts,
    by which a few lines could stand for a gigabyte."""
    body = re.sub(r"^\s*```\w*\s*$", "", text, flags=re.MULTILINE)
    if "{" in body or _ALIAS.search(body) or not re.search(r"^\s*- \w+:", body, re.MULTILINE):
        return None
    import yaml  # as rarely wanted as this

    try:
        value = yaml.safe_load(body)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def tables(text: str) -> Any:
    """The rows of Markdown tables as objects: a list, or under headings a list for each."""
    found: dict[str, list[dict[str, str]]] = {}
    heading, columns = "", list[str]()
    for line in text.splitlines():
        cells = [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
        if not line.strip().startswith("|"):
            heading, columns = line.strip(" #*:") or heading, []
        elif not columns:
            columns = cells
        elif len(cells) == len(columns) and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found.setdefault(heading, []).append(dict(zip(columns, cells, strict=True)))
    return next(iter(found.values())) if len(found) == 1 else found


def _value(text: str) -> Any:
    """A list of bullets, JSON, or words, less a fence, quotes and bold letters round them."""
    text = text.strip()
    fenced = _FENCE.fullmatch(text)
    words = (fenced[1] if fenced else text).strip(' \t\r\n*_"“”')
    if words[:1] + words[-1:] in ("{}", "[]") and (value := value_of(words)) is not None:
        return value
    lines = text.splitlines()
    if all(map(_BULLET.match, lines)) and lines:
        return [_BULLET.sub("", line) for line in lines]
    return words.replace("**", "") if words.count("**") % 2 else words  # one of a pair went with the edges


@cache
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """A label of one of ``kinds``; the group that closes last is its kind, with ``_UNSURE`` behind what may be none."""
    words = {kind: _SURE[kind] for kind in kinds} | {f"{kind}{_UNSURE}": _MAYBE[kind] for kind in kinds}
    either = "|".join(f"(?P<{kind}>{each.replace(' ', _GAP)})" for kind, each in words.items())
    return re.compile(rf"{_START}(?:{either})(?![\w'’]){_END}", re.IGNORECASE | re.MULTILINE)


def _kind(mark: re.Match[str]) -> str:
    return (mark.lastgroup or "").removesuffix(_UNSURE)


def _is_label(mark: re.Match[str], text: str) -> bool:
    """Whether it has a colon, stands alone on its line, or is told from the text by its marks.

    A sure one needs none of these; "Notes were taken." is a sentence.
    """
    is_alone = not text[mark.end() :].partition("\n")[0].strip(" \t*_`#")
    is_closed = bool(set("*_`]】」") & set(mark[0].rstrip()[-2:]))
    return mark[0].rstrip()[-1:] in ":：=*–—-" or is_alone or is_closed or _kind(mark) == mark.lastgroup
