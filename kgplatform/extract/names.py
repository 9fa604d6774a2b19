"""Named things of a sentence: capitalised spans, acronyms and quoted titles, in cased and in caseless scripts.

Everything is decided by the sentence and by what the document does elsewhere with the same words
(``DocumentWords``), so that a passage's names do not depend on the rest of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgplatform.extract.lexicon import (
    DAYS,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    INNER_PARTICLES,
    LAST_WORDS,
    MONTHS,
    NOUN_KINDS,
    OPENERS,
    PEOPLES,
    WORDS,
    is_common,
    kind_of_name,
    known_name,
)
from kgplatform.extract.tokens import TOKEN, UPPER, DocumentWords, Span, Tokens, is_capital, is_glued, is_shouted, joins
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
    """Names in Chinese and Japanese: titles, not what is only said or stressed (「…」). Without ``loan_words``, what is
    quoted and a word in katakana are none."""
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
        # A word has a capital in any case where it begins a sentence, a cell, an item or a quotation.
        left = tokens[position].start()
        opens = _OPENING.search(text, max(start, left - 4), left) is not None
        if position == 0:
            opens = not any(letter.isalnum() for letter in text[start:left])
        first = _first_of_name(tokens, position, stop, words, opens)
        last = _last_of_name(tokens, first, stop)
        run = [token["word"] for token in tokens[first:last]]
        named = run and is_name(run, words, opens and first == position) and not is_inflected(run, words)
        left = tokens[_with_number_before(text, tokens, first)].start("word") if named else 0
        right = tokens[last - 1].end("word") if named else 0
        if named and text.startswith(", ", right) and is_capital(run[-1]) and (noble := _NOBLE.match(text, right)):
            right = noble.end()  # "Ada, Duchess of Lund"
        if right == end and last - first > 2 and len(run[-1]) == 2 and run[-1][1] == ".":  # "… in World War I."
            right -= 1
        is_citation = text[left - 1 : left] == "[" and text[right : right + 1] == "]"  # "[Qui14]"
        if (
            named
            and not is_adjective(text, tokens, first, last, end)
            and not is_of_a_kind(text, tokens, first, last)
            and not (is_citation and any(letter.isdecimal() for letter in text[left:right]))
            and not is_part_of_more(text, tokens, first, last)
            and not (words.technical and is_label_of(text, right, run))
        ):
            yield Span(" ".join(text[left:right].split()), left, right)
            stop = next((at for at in range(stop, len(tokens)) if tokens[at].start() >= right), len(tokens))
        position = stop


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


def _run_end(text: str, tokens: Tokens, first: int) -> int:
    """One past the last token of the run of capitalised words, inner particles and numbers that begins at ``first``."""
    stop = first + 1
    while stop < len(tokens) and stop - first < MOST_WORDS:
        before = tokens[stop - 1]["word"]
        if not joins(text, tokens, stop):
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
            return after if _may_join(particles, before, tokens, position, tokens[after]["word"]) else None
    return None


def _may_join(particles: Sequence[str], before: str, tokens: Tokens, position: int, word: str) -> bool:
    """Whether ``particles`` go on a name: "for" and "and" an institution's, "the" before "Great" and the like."""
    if particles[0] in ("on", "upon"):
        return before[0].isupper() and word.lower() not in MONTHS | DAYS and len(particles) < 3
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
    while first < stop:
        # "New" of "New Zealand" is no word that only opens the sentence.
        run = [token["word"] for token in tokens[first : min(stop, first + 3)]]
        if any(known_name(" ".join(run[:count])) for count in range(2, len(run) + 1)):
            return first
        word, low = run[0], run[0].lower()
        last = first == stop - 1
        droppable = low in {"the", "a", "an"} or low in WORDS["formal honorifics"]
        # "CEO" or "of" in "CEO of Quill Motors": what somebody is of what is named.
        at = first - 1 if word == "of" else first
        heads = at >= 0 and tokens[at]["word"].lower() in WORDS["offices"] and at + 2 < stop
        droppable |= heads and tokens[at + 1]["word"] == "of"
        droppable |= low in INNER_PARTICLES and (word.islower() or low in FUNCTION_WORDS or last)
        if not last:
            droppable |= low in _BEFORE_NAMES or (opens and is_function_word(low) and low not in {"will", "may", "us"})
            droppable |= is_role(tokens, first, stop)
            droppable |= opens and low in OPENERS
            droppable |= opens and first == begin and only_opens(word, words)
        droppable |= not last and is_made_of_a_name(word)
        if not droppable and not word.isdecimal():
            return first
        first += 1
    return first


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


_ADJECTIVE = re.compile(r".{2,}(?:[ai]an|ese|ish|esque)\Z")
_AND_MORE = re.compile(r",? (?:and|&|of|for)(?: the)? [A-Z]")
_MORE_AND = re.compile(r"[A-Z][\w'’]*,? (?:and|&|of|for)(?: the)? \Z")
_ITEM = re.compile(r"(?:\A|\n|[-*•] )[A-Z][^\n.:;,]*\Z")
"""What begins an item and goes on to its colon: "- Iteration Count: …"."""
_LONGEST_LABEL = 60
_LABELLED = re.compile(
    r"[\"”’']? (?:radio |check |push )?(?:assistant|bar|box|button|checkbox|dialog|dialogue|field|icon|menu|page|pane"
    r"|screen|section|submenu|tab|toolbar|view|window|wizard)s?\b"
)
_INDEFINITE = re.compile(r"\b[Aa]n? \Z")
_NOUN_AFTER = re.compile(r"[ -][a-z]{3,}")
_BEFORE_PEOPLES = WORDS["before peoples"]
_NO_WORD = re.compile(r"(?:Ctrl|Alt|Shift|Meta|Esc)\b|[CM]-\w+\Z|F\d+\Z|[A-Z]-\d+\Z|[A-Z]+s\Z")
"""A key, the plural of an acronym."""
_OF_A_NAME = re.compile(
    r".*-[a-z]*(?:ing|ed|like|style|born|era|wide|free|only|led|own|run|long|level|based|bug|friendly|related)\Z"
)
_NO_IDENTIFIER = re.compile(r"(?=[A-Z])[^-]*\Z|[A-Z]+[\d-]|.*-[A-Z\d]+\Z")
"""In a manual, "noMetadata" and "Signed-By" are an option and a field; "GitHub" and "UTF-8" are names."""
_NUMBERS = frozenset({"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
_VERBS = ("ize", "ise", "ify")
_INFLECTED = ("ing", "ed", "ly", "tion", "ment", "ity")
_LONGEST_ACRONYM = 6
_LONGEST_IN_A_MANUAL = 4
"""A longer one is a constant or a word of a heading there, where it is not known."""
_MOST_WORDS = 4
"""Of a name in a manual that nothing else tells to be one."""


def is_adjective(text: str, tokens: Tokens, first: int, last: int, end: int) -> bool:
    """Whether the words say of what people or kind something is: "Swedish", "the Darwinian view", "an Actress"."""
    word, left = tokens[first]["word"], tokens[first].start()
    if last - first == 2:  # "South African", "Puerto Rican", "Anglo-Saxon German"
        is_second = tokens[first + 1]["word"].lower() in PEOPLES | {"rican", "lankan"}
        return is_second and (word.lower() in PEOPLES or word.lower() in _BEFORE_PEOPLES)
    if last - first > 2:
        return False
    known = kind_of_name(word)
    if known is None and word.isalpha() and text[max(0, left - 4) : left].endswith((" a ", " an ")):
        return not word.isupper()
    if word.lower() in PEOPLES:
        return known != "Language" or not text[max(0, left - 6) : left].endswith((" in ", " into "))
    after = _NOUN_AFTER.match(text, tokens[first].end(), end)
    if after is None or after[0][1:] in FUNCTION_WORDS or known is not None:
        return False
    return _ADJECTIVE.match(word) is not None


def is_of_a_kind(text: str, tokens: Tokens, first: int, last: int) -> bool:
    """Whether ordinary words behind "a" name one of many, with capitals for weight: "a Very Important Person"."""
    left = tokens[first].start()
    run = [token["word"] for token in tokens[first:last]]
    indefinite = _INDEFINITE.search(text, max(0, left - 4), left) is not None
    return indefinite and all(map(is_common, run)) and kind_of_name(" ".join(run)) is None


def is_part_of_more(text: str, tokens: Tokens, first: int, last: int) -> bool:
    """Whether ordinary words are a part of a longer name, cut at "and" or "of": "the Computer Science and Arts Lab"."""
    run = [token["word"] for token in tokens[first:last]]
    if not all(map(is_common, run)) or kind_of_name(" ".join(run)) is not None:
        return False
    after = _AND_MORE.match(text, tokens[last - 1].end()) is not None
    before = _MORE_AND.search(text, max(0, tokens[first].start() - 40), tokens[first].start()) is not None
    return after or before


def is_label_of(text: str, right: int, run: Sequence[str]) -> bool:
    """Whether a manual goes on with what the words, which are not known, are a label of: "the Refine Search dialog"; or
    in lower case, after an ordinary word: "the Quill Web browser"."""
    if kind_of_name(" ".join(run)) is not None:
        return False
    if text.startswith(":", right) and _ITEM.search(text, max(0, right - _LONGEST_LABEL), right):
        return True
    after = _NOUN_AFTER.match(text, right)
    cut = len(run) > 1 and is_common(run[-1]) and after is not None and len(after[0]) > 4 and is_common(after[0][1:])
    return (cut and after is not None and after[0][1:] not in FUNCTION_WORDS) or bool(_LABELLED.match(text, right))


def is_inflected(run: Sequence[str], words: DocumentWords) -> bool:
    """Whether the word comes from a verb, with a capital for a button or a heading: "Guided", "Building"."""
    alone = len(run) == 1 and kind_of_name(run[0]) is None and run[0].lower() not in GIVEN_NAMES
    if words.technical:
        return alone and run[0].endswith(_INFLECTED)
    return alone and run[0].endswith(("ing", "ed", "ly")) and words.capital.get(run[0], 0) < 2


def is_function_word(low: str) -> bool:
    return low in FUNCTION_WORDS or low.replace("’", "'") in FUNCTION_WORDS


def is_role(tokens: Tokens, first: int, stop: int) -> bool:
    """Whether the word only says what the person named after it is: "American", "Pastor" or "Varland President"."""
    rest = [token["word"] for token in tokens[first:stop]]
    roles = [at for at, word in enumerate(rest[:-2]) if at < 4 and NOUN_KINDS.get(word.lower()) == "Person"]
    if not roles:
        return rest[0].lower() in PEOPLES and len(rest) > 2 and kind_of_name(" ".join(rest[1:])) == "Person"
    before = tokens[first - 1]["word"] if first else ""
    if roles == [0] and rest[0].lower() in WORDS["first words of Person"] and before not in ("Prime", "Vice", "Deputy"):
        return False
    return kind_of_name(" ".join(rest[roles[-1] + 1 :])) == "Person"


def only_opens(word: str, words: DocumentWords) -> bool:
    """Whether the document gives reason to think that ``word`` has its capital from the beginning of the sentence."""
    if word.lower() in words.lower and word not in words.capital:
        return True
    sure = words.is_proper(word) or any(letter.isupper() for letter in word[1:])
    ordinary = is_common(word) or word.endswith(_INFLECTED + _VERBS)
    return words.technical and not sure and ordinary and kind_of_name(word) is None


def is_made_of_a_name(word: str) -> bool:
    """Whether the word is made of a name and an ordinary word: "Go-playing", "NASA-inspired", "SQL-standard"."""
    if _OF_A_NAME.match(word) is not None:
        return True
    first, hyphen, last = word.rpartition("-")
    named = bool(hyphen) and (first.isupper() or not is_common(first))
    return named and len(last) > 3 and last.islower() and is_common(last)


def is_name(run: Sequence[str], words: DocumentWords, opens: bool) -> bool:
    """Whether the run is a name: not a date, not a function word, not a word that only its sentence capitalises."""
    if all(word.isdecimal() or word.lower() in MONTHS or word.lower().rstrip("s") in DAYS for word in run):
        return False
    if run[0].lower() in WORDS["parts of texts"] and all(_is_number(word) for word in run[1:]):
        return False
    if len(run) == 1:
        return _is_name_alone(run[0], words, opens)
    shouted = [word for word in run if word.isupper() and word.isalpha() and len(word) > 1]
    if len(shouted) > 2 or sum(1 for word in shouted if len(word) > 4) > 1:
        return False
    if all(word.lower() in WORDS["generic"] or is_function_word(word.lower()) for word in run):
        return False
    if words.technical and (_is_heading(run) or is_label(run)):
        return False
    if is_made_of_a_name(run[-1]) and is_common(run[-1].rpartition("-")[2]) and kind_of_name(" ".join(run)) != "Person":
        return False
    if is_function_word(run[-1].lower()) and not run[-1].isupper():
        return False
    if len(run) == 2 and _is_number(run[1]) and run[0].lower() in words.lower:
        return False
    return not all(is_function_word(word.lower()) or len(word.strip(".")) < 2 for word in run)


def is_label(run: Sequence[str]) -> bool:
    """Whether the words are what a manual calls a part of a screen, a page or a form: "Summary Bar", "Find Bill"."""
    kind = kind_of_name(" ".join(run))
    if kind in ("Person", "Organization", "Place", "Event") or run[-1].lower() in WORDS["laws"]:
        return False
    if all(word.isupper() for word in run) or any(known_name(word) for word in run):
        return False
    plain = WORDS["generic"] | OPENERS
    ordinary = all(is_common(word) or word.lower() in plain or word.isdecimal() for word in run)
    return ordinary or (kind is None and run[-1].lower() in WORDS["parts of screens"])


def _is_heading(run: Sequence[str]) -> bool:
    """Whether the words, in a manual, are a heading, a list of headings, or a word in capitals before one."""
    function = any(word[0].isupper() and not word.isupper() and is_function_word(word.lower()) for word in run)
    long = len(run) > _MOST_WORDS and kind_of_name(" ".join(run)) is None
    gerund = run[0].endswith("ing") and is_common(run[0]) and kind_of_name(" ".join(run)) is None
    option = any(word[0].islower() and any(map(str.isupper, word)) and kind_of_name(word) is None for word in run)
    return function or long or option or gerund or (run[0].isupper() and run[0].isalpha() and len(run[0]) > 4)


def _is_name_alone(word: str, words: DocumentWords, opens: bool) -> bool:
    low = word.lower()
    if _NO_WORD.match(word) or is_made_of_a_name(word):
        return False
    if len(word.strip(".")) < 2 or is_function_word(low):
        return word.isupper() and len(word) > 1 and low in {"us", "it"} and not opens
    if word.isupper() and "." not in word:
        return kind_of_name(word) is not None or is_acronym(word, words)
    if any(letter.isupper() for letter in word[1:]):
        return not words.technical or kind_of_name(word) is not None or _NO_IDENTIFIER.match(word) is not None
    if kind_of_name(word) is None and (low in NOUN_KINDS or low in LAST_WORDS or low in WORDS["generic"]):
        return False
    if is_common(word) and kind_of_name(word) is None:
        once = words.capital.get(word, 0) < 2 or words.lower.get(low, 0) > 0
        if words.technical or once:
            return False
    if known_name(word) is not None and not opens:
        return words.capital.get(word, 0) > words.lower.get(low, 0)
    return words.is_proper(word) and (not opens or low not in OPENERS)


def is_acronym(word: str, words: DocumentWords) -> bool:
    """Whether the word in capitals is short and no word that the document, or any program, writes otherwise too."""
    low = word.lower()
    longest = _LONGEST_IN_A_MANUAL if words.technical and word.isalpha() else _LONGEST_ACRONYM
    if known_name(word) is None and (len(word) == 2 if words.technical else len(word) > 3 and is_common(word)):
        return False
    short = 2 <= len(word) <= longest and len(set(word)) > 1 and sum(map(str.isalpha, word)) > 1
    return short and low not in WORDS["no acronyms"] and low not in words.lower


def _is_number(word: str) -> bool:
    return word[0].isdecimal() or len(word.rstrip(".")) == 1 or set(word) <= set("IVXLC") or word.lower() in _NUMBERS
