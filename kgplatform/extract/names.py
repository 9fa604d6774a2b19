"""Named things of a sentence: capitalised spans, acronyms and quoted titles, in cased and in caseless scripts.

Everything is decided by the sentence and by what the document does elsewhere with the same words
(``DocumentWords``), so that a passage's names do not depend on the rest of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgplatform.extract.document_words import DocumentWords
from kgplatform.extract.lexicon import (
    DAYS,
    FUNCTION_WORDS,
    INNER_PARTICLES,
    MONTHS,
    OPENERS,
    WORDS,
    is_common,
    kind_ending,
    known_name,
)
from kgplatform.extract.no_names import (
    is_adjective,
    is_after_comma,
    is_citation,
    is_function_word,
    is_half_of_a_pair,
    is_inflected,
    is_initial,
    is_label_of,
    is_made_of_a_name,
    is_name,
    is_of_a_kind,
    is_office,
    is_part_of_more,
    is_role,
    only_calls,
    only_opens,
)
from kgplatform.extract.tokens import TOKEN, UPPER, Span, Tokens, is_capital, is_glued, is_shouted, joins
from kgplatform.text import is_unspaced

MOST_WORDS = 12
"""Words in a name; a longer run of capitals is a heading or a list, and is cut there."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SOUNDS = (
    "阿埃艾爱安昂奥巴白拜班邦包保堡鲍贝本比彼毕别宾波玻伯博勃布查察楚茨达戴丹道得德邓登迪蒂丁东杜敦顿多厄俄恩尔法范菲费芬丰冯佛夫弗福富盖甘冈高戈哥"
    "歌格葛根贡古瓜圭哈海汉豪赫黑亨洪胡华怀惠霍基吉季加嘉贾简姜杰金津卡凯坎康考柯科克肯孔库夸奎昆拉腊莱赖兰郎朗劳勒雷蕾黎里丽莉利力莲列林琳龙娄卢鲁露伦"
    "罗洛吕略马玛麦迈曼芒毛梅门蒙孟米密蜜缪摩莫墨默姆穆纳娜奈南内尼涅妮宁纽农努诺欧帕派潘庞佩彭皮珀蒲普契奇恰乔切钦琼丘瑞若茹萨塞赛桑瑟森沙莎珊山绍"
    "舍申圣施什史舒朔斯丝苏孙索塔泰坦汤唐陶特藤铁廷图吐托瓦宛旺威韦维魏温文翁沃乌武西希锡夏肖歇谢辛欣休雅亚杨耶叶伊英尤约宰泽扎詹哲珍芝朱茱兹卓佐培方翰逊滕狄伽梵凡撒彻苔伟灵"
)
"""The characters that Chinese writes foreign names with, less those that are mostly words: the dot alone does not tell
where such a name begins and ends."""
_FIRST = f"[{_SOUNDS}]|理(?=查)"
_LATER = f"[{_SOUNDS}可来因思廉]|罕(?=默)"
"""With what most sentences have beside a name as words of their own: 理 "to manage", 思 "to think", 廉 "cheap"."""
_QUOTED = re.compile(r'"([^"“”\n]{2,80})"|“([^"“”\n]{2,80})”|«\s?([^«»\n]{2,80}?)\s?»|„([^„“”\n]{2,80})[“”]')
_CASELESS = re.compile(
    r"《([^《》\n]{1,60})》|〈([^〈〉\n]{1,60})〉|『([^『』\n]{1,40})』"
    rf"|([\u30a1-\u30fa\u30fc]{{2,}}(?:[・＝][\u30a1-\u30fa\u30fc]{{2,}})+|[\u30a1-\u30fa\u30fc]{{4,}})"
    rf"|((?:{_FIRST})(?:{_LATER}){{0,6}}(?:[·・‧](?:{_FIRST})(?:{_LATER}){{0,7}})+)"
)
_IN_MANUALS = (3, 4)
"""The groups of ``_CASELESS`` that have no names in manuals: quotations, and what Japanese has from other languages."""
_NO_NAMES = "的是在于於和与與及或由从從到向至往去对對被把其并等将該该这那某各不能了着以用为為使让"
# In Chinese, what stands between punctuation or these and ends like an institution; companies mostly have none of it.
_INSTITUTION = re.compile(
    rf"(?<![^\W{_NO_NAMES}])((?:(?![{_NO_NAMES}])[{_HAN}]){{2,10}}?"
    r"(?:大学|大學|研究所|研究院|银行|銀行|博物馆|博物館|出版社))"
)
_NO_TITLE = re.compile(r"[/\\=<>{}|_$~+]|\w\(|\.\w|^\W*\w\W*$")
"""What a quoted title does not have: signs of paths and of code, and one letter alone."""
_NO_WORK = re.compile(
    r"\b(?:(?:title|name|nicknamed?|dubbed|word|term|phrase|alias)(?:\ of)?|crowned|spelled|called\ the"
    r"|codenamed?|family|genus|order|species|tribe)\W{1,4}\Z"
)
"""Before quotation marks that hold a word or a name, and no title."""
_IN_A_NAME = re.compile(r"[A-Z][\w.]* ?\Z")
"""Before a nickname: Ada "Red" Quill."""
_SECTION = re.compile(
    r"\b(?:Chapter|Section|Appendix|Table|Figure|Kapitel|Abschnitt|Anhang)\ [\dA-Z][\w.]*,\ "
    r"(?:[“„\"][^”“\"]{1,90}|[^.,;)]{1,90})"
)
"""A reference to a part of a text with that part's heading."""
_FILE_SUFFIX = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|md|txt|csv|tsv|html?|json|xml|ya?ml|ini|log|jpe?g|png|gif|tiff?|svg|zip|exe|py|od[tsp]"
    r"|epub|eml|rtf|mp[34])(?!\w)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?:[:;|•·–—>*]|--|\d[.)])\s+[\"“‘'(\[]?\Z|[\"“‘]\Z")
_NOBLE = re.compile(
    r",\ (?:\d+(?:st|nd|rd|th)\ )?(?:(?:Duke|Count|Earl|Prince|Princess|Duchess|Countess|Marquess|Marquis|Marchioness"
    r"|Margrave|Landgrave|Elector|Viscount|Viscountess|Baron|Baroness|Lord|King|Queen|Archduke|Seigneur|Bishop"
    r"|Archbishop)\ (?:of|de)|(?<=[tdh]\ )(?:Earl|Viscount|Baron|Lord|Marquess))"
    rf"\ [{UPPER}][\w'’-]*(?:-\ [{UPPER}][\w'’-]*|\ (?:of\ )?[{UPPER}][\w'’-]*)?"
)
_BEFORE_NAMES = WORDS["before names"]
"""Function words that begin no name, wherever the run stands; others do: "No Doubt", "All Saints", "Our Town"."""


def names(text: str, start: int, end: int, words: DocumentWords) -> list[Span]:
    """The names in the sentence ``text[start:end]`` in reading order; a name inside a quoted title is not one more."""
    sections = [match.span() for match in _SECTION.finditer(text, start, end)]
    found = [span for span in _quoted(text, start, end) if not _is_inside(span, sections)]
    taken = [(span.start, span.end) for span in found] + sections
    if words.technical:  # what it quotes are headings, buttons and values
        found = []
    for span in _capitalised(text, start, end, words):
        if not _is_inside(span, taken):
            found.append(span)
    found.extend(_caseless(text, start, end, loan_words=not words.technical))
    return sorted(found, key=lambda span: (span.start, -span.end))


def _is_inside(span: Span, taken: Sequence[tuple[int, int]]) -> bool:
    return any(left <= span.start and span.end <= right for left, right in taken)


def _quoted(text: str, start: int, end: int) -> Iterator[Span]:
    """Quoted titles: short, beginning with a capital or a digit, with most of their longer words capitalised."""
    for match in _QUOTED.finditer(text, start, end):
        number = match.lastindex or 0
        inner = match[number].strip().rstrip(",.;:")
        if match.start() == start and match[number].rstrip().endswith((",", "?", "!")):
            continue  # somebody says it
        long_words = [word for word in inner.split() if len(word) > 3] or inner.split()
        titled = sum(1 for word in long_words if not word[0].islower())
        said = [word for word in inner.split() if word.islower() and word not in WORDS["in titles"]]
        short = any(letter.isalpha() for letter in inner) and len(inner.split()) <= MOST_WORDS
        short &= len(said) <= titled and 2 * titled > len(long_words)
        # Where letters have no case, nothing tells a title from what is said.
        if short and (inner[0].isupper() or (inner[0].isdigit() and not is_unspaced(inner))):
            left = text.index(inner, match.start(number))
            nickname = _IN_A_NAME.search(text, max(start, match.start() - 9), match.start()) and text[match.end() :][:2]
            if nickname and nickname.strip()[:1].isupper():
                continue
            if not _NO_TITLE.search(inner) and inner.lower() not in FUNCTION_WORDS:
                a_word = inner.isupper() or is_common(inner) or _NO_WORK.search(text, max(0, left - 24), left)
                kind = None if a_word else "Work"
                yield Span(inner, left, left + len(inner), kind)


def _caseless(text: str, start: int, end: int, *, loan_words: bool) -> Iterator[Span]:
    """Names in Chinese and Japanese: titles, not what is only said or stressed (「…」).

    Without ``loan_words``, what is quoted and a word in katakana are none.
    """
    if text[start:end].isascii():
        return
    for pattern in (_CASELESS, _INSTITUTION):
        for match in pattern.finditer(text, start, end):
            number = match.lastindex or 0
            if loan_words or number not in _IN_MANUALS or "・" in match[0] or "＝" in match[0]:
                yield Span(match[number].strip(), match.start(number), match.end(number))


def _capitalised(text: str, start: int, end: int, words: DocumentWords) -> Iterator[Span]:
    tokens = list(TOKEN.finditer(text, start, end))
    if is_shouted([token["word"] for token in tokens]):
        return
    position = 0
    while position < len(tokens):
        if not is_capital(tokens[position]["word"]) or is_glued(text, tokens[position]):
            position += 1
            continue
        stop = _run_end(text, tokens, position)
        if _FILE_SUFFIX.match(text, tokens[stop - 1].end()):  # "the Budget Plan.xlsx"
            position = stop
            continue
        opens = _opens(text, start, tokens, position)
        first = _first_of_name(tokens, position, stop, words, opens)
        last = _last_of_name(tokens, first, stop)
        run = [token["word"] for token in tokens[first:last]]
        named = run and is_name(run, words, opens and first == position) and not is_inflected(run, words)
        left = tokens[_with_number_before(text, tokens, first)].start("word") if named else 0
        right = _with_title_after(text, tokens[last - 1]) if named else 0
        if right == end and last - first > 2 and len(run[-1]) == 2 and run[-1][1] == ".":  # "… on Mac OS X."
            right -= 1
        if (
            named
            and not is_adjective(text, tokens, first, last, end, words)
            and not is_of_a_kind(text, tokens, first, last)
            and not is_citation(text, left, right)
            and not is_half_of_a_pair(text, left, right)
            and not is_part_of_more(text, tokens, first, last)
            and not (words.technical and is_label_of(text, right, run))
        ):
            yield Span(" ".join(text[left:right].split()), left, right)
            stop = next((at for at in range(stop, len(tokens)) if tokens[at].start() >= right), len(tokens))
        position = stop


def _opens(text: str, start: int, tokens: Tokens, position: int) -> bool:
    """Whether a word would have a capital there in any case: it begins a sentence, a cell, an item or a quotation."""
    left = tokens[position].start()
    if position == 0:
        return not any(letter.isalnum() for letter in text[start:left])
    return _OPENING.search(text, max(start, left - 4), left) is not None


def _with_title_after(text: str, token: re.Match[str]) -> int:
    """The end of the name with the title of nobility behind its comma: "Ada, Duchess of Lund"."""
    right = token.end("word")
    match = _NOBLE.match(text, right) if text.startswith(", ", right) and is_capital(token["word"]) else None
    return match.end() if match is not None else right


def _last_of_name(tokens: Tokens, first: int, stop: int) -> int:
    """``stop`` moved before a date that ends the run: "Ada Quill August 1993", "Lund on Sunday"."""
    for position in range(first + 1, stop):
        word = tokens[position]["word"].lower()
        dated = word in MONTHS and position + 1 < len(tokens) and tokens[position + 1]["word"].isdecimal()
        if dated or (word in DAYS and tokens[position - 1]["word"].islower()):
            stop = position
            break
    while stop > first + 1 and tokens[stop - 1]["word"] in INNER_PARTICLES:
        stop -= 1
    return stop


_OTHER_HALF = re.compile(rf"/([{UPPER}]\w+)")


def _goes_on(text: str, token: re.Match[str]) -> bool:
    """Whether the word belongs to what follows it, not to the name before it: "GNU/Linux", "Finance::Quote"."""
    if text[token.end() : token.end() + 1] not in ("/", ":"):
        return False
    half = _OTHER_HALF.match(text, token.end())
    pair = half is not None and known_name(f"{token['word']}/{half[1]}") is not None
    return pair or text.startswith("::", token.end())


def _run_end(text: str, tokens: Tokens, first: int) -> int:
    """One past the last token of the run of capitalised words, inner particles and numbers that begins at ``first``."""
    stop = first + 1
    while stop < len(tokens) and stop - first < MOST_WORDS:
        before = tokens[stop - 1]["word"]
        if not joins(text, tokens, stop) or _goes_on(text, tokens[stop]):
            break
        word = tokens[stop]["word"]
        goes_on = is_capital(word) and not (before.endswith(".") and word.lower() in FUNCTION_WORDS)
        right = tokens[stop].end()
        whole = text[right : right + 1] not in (".", ",", "–", "-") or not text[right + 1 : right + 2].isdecimal()
        whole &= text[right : right + 1] not in ("°", "%")
        numbered = word.isdecimal() and len(word) <= 4 and before.lower() not in MONTHS and whole
        if goes_on or numbered:
            stop += 1
        elif (after := _past_particles(text, tokens, stop)) is not None:
            stop = after + 1
        else:
            break
    return stop


def _past_particles(text: str, tokens: Tokens, position: int) -> int | None:
    """The capitalised token after one to three particles at ``position``, if that is what stands there."""
    before = tokens[position - 1]["word"]
    for after in range(position + 1, min(position + 4, len(tokens))):
        word = tokens[after - 1]["word"]
        if not (word in INNER_PARTICLES or (word == "and" and after == position + 1)) or not joins(text, tokens, after):
            return None
        if is_capital(tokens[after]["word"]):
            particles = [token["word"] for token in tokens[position:after]]
            goes_on = _may_join(particles, before, tokens, position, tokens[after]["word"])
            return after if goes_on and not (word == "on" and _stand_apart(tokens, position, after)) else None
    return None


def _stand_apart(tokens: Tokens, position: int, after: int) -> bool:
    """Whether "on" at ``position`` stands between two names: one is known, and is not where an attack was."""
    if kind_ending(tokens[position - 1]["word"].lower()) == "Event":
        return False
    left = (" ".join(token["word"] for token in tokens[max(0, position - count) : position]) for count in (1, 2))
    right = (" ".join(token["word"] for token in tokens[after : after + count]) for count in (1, 2))
    return any(known_name(name) is not None for name in (*left, *right))


def _may_join(particles: Sequence[str], before: str, tokens: Tokens, position: int, word: str) -> bool:
    """Whether ``particles`` go on a name: "for" and "and" an institution's, "the" before "Great" and the like."""
    if particles[0] in ("on", "upon"):
        return before[0].isupper() and word.lower() not in MONTHS | DAYS and len(particles) < 3 and word != "Level"
    if particles[0] == "for":
        return before.lower() in WORDS["joins more"]
    if particles[0] == "and":
        start = next((at for at in range(position - 1, 0, -1) if tokens[at]["word"] in ("of", "for")), 0)
        return start > 0 and position - start < 4 and tokens[start - 1]["word"].lower() in WORDS["joins more"]
    if particles[0] == "the":
        return word.lower() in WORDS["epithets"] and before.lower() not in FUNCTION_WORDS
    return not (before.lower() in FUNCTION_WORDS and len(before) > 1)


def _first_of_name(tokens: Tokens, first: int, stop: int, words: DocumentWords, opens: bool) -> int:
    """``first`` moved past words that stand before a name but are not a part of it; ``opens``: it begins a sentence."""
    begin = first
    while first < stop and not _begins_known(tokens, first, stop):
        word = tokens[first]["word"]
        low = word.lower()
        last = first == stop - 1
        droppable = low in {"the", "a", "an"} or low in WORDS["formal honorifics"] or is_office(tokens, first, stop)
        droppable |= low in INNER_PARTICLES and (word.islower() or low in FUNCTION_WORDS or last)
        if not last:
            droppable |= low in _BEFORE_NAMES or (opens and is_function_word(low) and low not in {"will", "may", "us"})
            droppable |= is_role(tokens, first, stop)
            droppable |= opens and low in OPENERS
            droppable |= opens and first == begin and only_opens(word, words)
            droppable |= opens and first == begin and only_calls(tokens, first, stop, words)
        droppable |= opens and first == begin and stop - first == 2 and len(word) == 2 and word[1] == "."  # "K. In"
        droppable |= not last and is_made_of_a_name(word)
        droppable |= first == begin and not last and is_initial(word) and is_after_comma(tokens, first)
        if not droppable and not word.isdecimal():
            return first
        first += 1
    return first


def _begins_known(tokens: Tokens, first: int, stop: int) -> bool:
    """Whether the first words are known together: "New" of "New Zealand" is no word that only opens the sentence."""
    words = [token["word"] for token in tokens[first : min(stop, first + 3)]]
    return any(known_name(" ".join(words[:count])) for count in range(2, len(words) + 1))


def _with_number_before(text: str, tokens: Tokens, first: int) -> int:
    """``first`` moved before "2018" in "the 2018 FIFA World Cup" and "20th" in "20th Century Fox"."""
    if first == 0:
        return first
    number = tokens[first - 1]["word"]
    if text[tokens[first - 1].end() : tokens[first].start()] != " ":
        return first
    if re.fullmatch(r"\d{1,3}(?:st|nd|rd|th)", number):
        return first - 1
    after_article = first >= 2 and tokens[first - 2]["word"].lower() == "the"
    return first - 1 if after_article and re.fullmatch(r"(?:1[5-9]|20)\d\d", number) else first
