"""Whether an answer says that there is none, in whatever words and in a dozen languages.

    is_members_refusal("Keine Angabe im Text.")                       # True
    is_members_refusal("No answer was given by the ambassador.")      # False: that is what the text says

Three things make a refusal: an answer that is nothing but a word for none ("n/a", "unbekannt", "不详"); one that says
that the *text* does not say it; one that says that the model cannot tell. The same words in another role make none:
"Unknown Pleasures", "The treasure was not found".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgplatform.text import is_unspaced, normalise_name

_SHORT = 20
"""Words. In a longer text a refusal counts only where it comes first."""

_SHORT_UNSPACED = 40
"""Letters, for scripts that have no spaces."""

# -------------------------------------------------------------------------------------------------------------- English

_PART = (
    r"(?:document|passage|text|part|section|segment|chunk|excerpt|context|dictionary|list|article|source|material|"
    r"row|table|record|evidence|note|notebook|fact|gist|knowledge graph|page)s?"
)
_TEAM = r"(?:team|members?|reply|replies)"
_MENTION = (
    r"(?:\w+ly )?(?:contain|mention|name|say|state|specify|provide|include|give|tell|answer|refer|discuss|find|"
    r"indicate|reveal|disclose|identify|describe|address|cover|explain)"
)
_MENTIONED = (
    r"(?:\w+ly )?(?:found|mentioned|said|stated|specified|given|provided|available|included|contained|present|"
    r"discussed|indicated|known|clear|disclosed|identified|named|applicable|answered|determined|recorded)"
)
_SAID_OUTRIGHT = r"(?:\w+ly )?(?:mentioned|stated|specified|indicated)"
_KNOWLEDGE = r"(?:\w+ )?(?:mention|information|reference|details?|data|indication)"
_ABOUT = r"(?:of|about|on|for|to|in|within|from|regarding|concerning|that|as to|whether|relat\w+|relevant|here)"
_AT_END = r"(?=\W*$)"
_IS = r"(?:is |was |are |were |has been |could be |can be )?"
_THING = (
    r"(?:any|an|the|enough|sufficient) (?:\w+ )?(?:information|mention|reference|evidence|answer|data|details?|"
    r"context)"
)
_ASKED_FOR = (
    r"(?:the |an? |his |her |its |their |this |that )?(?:\w+ )?(?:answer|information|details?|key|value|name|date|"
    r"year|number|time|place|location|author|reason|cause|age|amount|price|figure|title)s?"
    r"(?: (?:of|for|to|from) [^.;,!?]{1,60})?"
)
_NOT = r"(?: not|n?['’]t)"  # "can't" has but one n
_REFUSALS = re.compile(
    rf"^\W*(?:there (?:is|was|are|were) )?no {_KNOWLEDGE}(?:{_AT_END}| {_ABOUT}\b| {_IS}{_MENTIONED}{_AT_END}"
    rf"| {_IS}{_MENTIONED} {_ABOUT} (?:\w+ ){{0,3}}{_PART}\b)"
    rf"|^\W*no (?:\w+ )?(?:answer|evidence|match|result|date|name|number)s?(?:{_AT_END}"
    rf"| {_IS}{_MENTIONED}(?:{_AT_END}| {_ABOUT} (?:\w+ ){{0,3}}{_PART}\b)| {_ABOUT} [^.;!?]{{0,60}}\b{_PART}\b)"
    rf"|\b(?:contains?|has|have|gives?|provides?|there (?:is|are)|there['’]s) no (?:\w+ )?(?:{_KNOWLEDGE}|evidence"
    rf"|answer)\b"
    rf"|\b(?:text|passage|document|part|excerpt|context|source)s? (?:gives?|states?|mentions?|names?|specif\w+"
    rf"|provides?|offers?|tells?|cites?) (?:no|neither)\b"
    rf"|\b{_PART}\b[^.;!?]{{0,40}}\b(?:does|do|did|is|are){_NOT} {_MENTION}|^\W*(?:does|do|did){_NOT} {_MENTION}"
    rf"|^\W*(?:it |this |that |{_ASKED_FOR} )?(?:(?:is|was|are|were)(?: not|n['’]t)|not) {_MENTIONED}{_AT_END}"
    rf"|^\W*(?:[\w'’-]+ ){{1,8}}?(?:is|was|are|were)(?: not|n['’]t) {_SAID_OUTRIGHT}{_AT_END}"
    rf"|^\W*it(?: is|['’]s| was)? (?:not|n['’]t) (?:stated|specified|mentioned|known|clear|said)\b"
    rf"|^\W*it(?: is|['’]s) (?:unclear|unknown)\b"
    rf"|\b{_TEAM}\b[^.;!?]{{0,20}}\b(?:does|do|did|is|are){_NOT} {_MENTION} (?:it|this|that|anything|{_THING})\b"
    rf"|\b{_PART}\b[^.;!?]{{0,40}}\b(?:says?|states?|mentions?|tells?|contains?|gives?) nothing\b"
    rf"|^\W*none of the (?:\w+ ){{0,2}}(?:{_PART}|{_TEAM}) (?:{_MENTION}|contains?|says?|gives?)"
    rf"|^\W*nothing (?:is |was )?{_MENTIONED}\b|\bnothing (?:about|on) [^.;!?]{{0,60}}\b{_PART}\b"
    rf"|\bnot {_MENTIONED} (?:\w+ )?(?:in|by|within|from) (?:[\w'’]+ ){{1,3}}?(?:{_PART}|{_TEAM})\b"
    rf"|^\W*(?:i |we |sorry,? (?:but )?i )?(?:could|can|was|am)(?:not|{_NOT}) (?:be |able to )?"
    rf"(?:find|found|determined?|answer|locate|tell|say)\b"
    rf"|^\W*(?:the |members['’] )?replies do{_NOT} {_MENTION}"
    rf"|^\W*i (?:need|would need) (?:more|further|additional) (?:context|information|details?)"
    rf"|\b(?:cannot|can{_NOT}|could{_NOT}) be (?:answered|determined|inferred)\b"
    rf"|^\W*(?:it |this |that |{_ASKED_FOR} )(?:cannot|can{_NOT}|could{_NOT}) be found\b"
    rf"|^\W*(?:i am |i['’]m |i was |we are )?unable to (?:find|answer|determine|locate)\b"
    rf"|\b(?:i|we|there|{_PART})\b[^.;!?]{{0,20}}?\b(?:do|does|is|are){_NOT} (?:have )?{_THING}\b"
    rf"|^\W*(?:there (?:is|was) )?(?:insufficient|not enough|no relevant) (?:\w+ )?(?:information|context|evidence|"
    rf"data|detail)"
    rf"|^\W*(?:sorry,? (?:but )?)?(?:i |we )?(?:do{_NOT}|don['’]t) know{_AT_END}"
    rf"|\bi(?: am|['’]m) not (?:sure|certain)\b|\b(?:is|are|was|were) (?:unknown|not known) to me\b"
    rf"|\b(?:evidence|information|context) is (?:insufficient|not sufficient)\b|\bunanswerable\b",
    re.IGNORECASE,
)

# ------------------------------------------------------------------------------------------------------ other languages


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language says that there is nothing.

    ``none``: all of an answer. A clause that has one each of ``text``, ``no`` and ``says`` is a refusal too: that the
    text does not say it.
    """

    none: re.Pattern[str]
    text: re.Pattern[str]
    no: re.Pattern[str]
    says: re.Pattern[str]


def _language(none: str, text: str, no: str, says: str) -> _Language:
    return _Language(*map(re.compile, (none, text, no, says)))


_LANGUAGES = (
    _language(  # English: only what is all of an answer
        r"none(?: (?:found|mentioned|given|stated|provided|specified|available|listed))?|nothing(?: found)?|n/?a"
        r"|null|undefined|unknown|unclear|unspecified|undetermined|unanswered"
        r"|not (?:known|sure|applicable|available)|no data|no idea|i have no idea",
        r"(?!)",
        r"(?!)",
        r"(?!)",
    ),
    _language(  # German
        r"keine(?:r|s|n)?"
        r"|keine (?:nähere[nr]? |weitere[nr]? |genaue[nr]? )?(?:angaben?|information(?:en)?|erwähnung(?:en)?|antwort"
        r"|daten|hinweise?|auskunft)(?: (?:zu|zum|zur|über|dazu|darüber|hierzu|im|in|vorhanden|verfügbar|gefunden"
        r"|möglich)\b.*)?|k\. ?a\.?|unbekannt|nichts(?: gefunden)?"
        r"|nicht (?:erwähnt|genannt|angegeben|bekannt|gefunden|enthalten|verfügbar|vorhanden|angeführt|beantwortbar"
        r"|ersichtlich|zutreffend)|(?:das )?weiss ich nicht|ich weiss (?:es )?nicht"
        r"|(?:die frage )?(?:kann|lässt sich) (?:leider )?nicht (?:beantwort\w+|bestimm\w+)(?: werden)?",
        r"\b(?:text\w*|abschnitt\w*|dokument\w*|passage\w*|teil\w*|auszug\w*|artikel\w*|kontext\w*|quelle\w*)\b",
        r"\b(?:nicht|nichts|kein\w*|weder)\b",
        r"\b(?:nenn\w*|genannt|erwähn\w*|sag\w*|gesagt|steht|enthält|enthalten|angab\w*|angegeben|gibt|hervor"
        r"|bericht\w*|information\w*|antwort\w*|beantwort\w*|macht|liefert|geh\w*)\b",
    ),
    _language(  # French
        r"aucune?"
        r"|aucune? (?:mention|informations?|indications?|réponse|données?|précisions?|détail)(?: (?:sur|à|au|de|du"
        r"|des|dans|concernant|relative|disponible|trouvée?|pertinente|n['’]est (?:donnée|fournie|disponible"
        r"|mentionnée))\b.*)?"
        r"|(?:non|pas|n['’]est pas) (?:mentionn|précis|indiqu|spécifi|trouv|renseign|communiqu|donn|fourni|connu)\w*"
        r"|(?:non |pas )(?:disponible|applicable)|inconnue?s?|rien|néant|sans (?:réponse|objet)|je ne sais pas"
        r"|impossible (?:à|de) (?:dire|déterminer|répondre|savoir)\b.*",
        r"\b(?:textes?|passages?|documents?|extraits?|sections?|partie|articles?|contexte|sources?|carnets?"
        r"|éléments fournis|informations fournies)\b",
        r"\b(?:pas|aucune?|rien|ni|jamais)\b",
        r"\b(?:mention\w*|indiqu\w*|précis\w*|dit|donn\w*|conti\w+|fourni\w*|parl\w*|trouv\w*|nomm\w*|répond\w*"
        r"|information\w*|figure\w*|cit\w+|permett\w*)\b",
    ),
    _language(  # Spanish
        r"ningun[oa]|nada"
        r"|(?:no hay |sin |ninguna )(?:menci[oó]n|menciones|informaci[oó]n|respuesta|datos|referencias?)(?: (?:sobre"
        r"|de|del|en|acerca|al|a|relevante|disponible)\b.*)?"
        r"|no (?:se )?(?:menciona|especifica|indica|dice|proporciona)(?: .*)?"
        r"|no (?:mencionad|especificad|encontrad|indicad|proporcionad|conocid)[oa]s?"
        r"|no (?:consta|disponible|aplica|lo sé|sé|se sabe)|desconocid[oa]s?|n/d|s/d|sin especificar",
        r"\b(?:textos?|pasajes?|documentos?|fragmentos?|parte|secci[oó]n|art[ií]culo|contexto|extracto)\b",
        r"\b(?:no|ning[uú]n\w*|nada|tampoco)\b",
        r"\b(?:mencion\w*|indic\w*|dice\w*|especific\w*|contiene\w*|proporcion\w*|informa\w*|dan?|señala\w*"
        r"|nombra\w*|habla\w*|aparece\w*|respon\w*|figura)\b",
    ),
    _language(  # Italian
        r"nessun[oa]?|nulla|niente"
        r"|nessun[ao]? ?(?:menzione|informazion[ei]|riferimento|risposta|dat[oi]|indicazion[ei])(?: (?:su|sul|sulla"
        r"|di|del|della|nel|nella|in|al|a|riguardo|disponibile)\b.*)?"
        r"|non (?:è |viene )?(?:menzionat|specificat|indicat|riportat|trovat|not|disponibil"
        r"|precisat)\w{1,2}(?: .*)?|sconosciut[oaie]|ignot[oaie]|non (?:lo )?so|n\.d\.?|non applicabile",
        r"\b(?:test[oi]|bran[oi]|passagg\w+|document[oi]|parte|sezione|articolo|contesto|estratto|passo)\b",
        r"\b(?:non|nessun\w*|nulla|niente)\b",
        r"\b(?:menzion\w*|indic\w*|dic[eo]\w*|specific\w*|conti?en\w*|forni\w*|riport\w*|parl\w*|inform\w*"
        r"|rispond\w*|cit\w+|nomin\w*|dà)\b",
    ),
    _language(  # Portuguese
        r"nenhum[a]?|nada"
        r"|(?:nenhuma |sem |não há )(?:menção|informaç(?:ão|ões)|resposta|dados|referência)(?: (?:sobre|de|do|da|no"
        r"|na|a|ao|disponível|relevante)\b.*)?"
        r"|não (?:é |foi )?(?:mencionad|especificad|informad|encontrad|indicad|fornecid|conhecid)[oa]s?"
        r"|não (?:consta|disponível|aplicável|sei|se sabe)|desconhecid[oa]s?",
        r"\b(?:textos?|passage[mn]s?|documentos?|trechos?|parte|se[cç]+ão|artigo|contexto|excerto)\b",
        r"\b(?:não|nenhum\w*|nada|nem)\b",
        r"\b(?:mencion\w*|indic\w*|diz\w*|especific\w*|cont[ée]m|forne\w*|inform\w*|cit[ao]\w*|fala\w*|respon\w*"
        r"|d[áã]o?|refer\w*)\b",
    ),
    _language(  # Dutch
        r"geen|niets(?: gevonden)?"
        r"|geen (?:vermelding|informatie|antwoord|gegevens|opgave|idee)(?: (?:over|van|in|om|bekend|gevonden"
        r"|beschikbaar)\b.*)?"
        r"|niet (?:vermeld|genoemd|gevonden|bekend|aangegeven|beschikbaar|gespecificeerd|van toepassing)|onbekend"
        r"|(?:ik )?weet (?:ik |het )*niet",
        r"\b(?:tekst\w*|passage\w*|document\w*|fragment\w*|deel|gedeelte|sectie|artikel|context|alinea)\b",
        r"\b(?:niet|niets|geen|noch)\b",
        r"\b(?:vermeld\w*|noem\w*|genoemd|zegt|staat|geeft|bevat\w*|informatie|antwoord\w*|meld\w*)\b",
    ),
    _language(  # Russian
        r"(?:нет|никаких|никакой) (?:упоминани\w+|информации|данных|ответа|сведений)(?: (?:об?|в|по|на|для)\b.*)?"
        r"|не (?:упомянут\w*|указан\w*|упоминается|известн\w+|найден\w*|сообщается|сказано)|неизвестн\w+|отсутствует"
        r"|ничего|(?:я )?не знаю|невозможно (?:ответить|определить)\b.*",
        r"\b(?:текст\w*|отрыв\w+|документ\w*|фрагмент\w*|част[ьи]|раздел\w*|стать\w*|абзац\w*|контекст\w*"
        r"|источник\w*)\b",
        r"\b(?:не|нет|ничего|ни|отсутств\w*)\b",
        r"\b(?:упом\w+|указ\w+|говор\w+|сообща\w+|содерж\w+|информаци\w+|сведени\w+|данны\w+|ответ\w*|сказан\w*"
        r"|наз[ы]?ва\w+|да[её]т\w*)\b",
    ),
    _language(  # Chinese
        r"[无無]|没有|沒有"
        r"|[未没沒](?:有)?(?:提及|提到|说明|說明|找到|给出|提供|知|记载)(?:相关)?(?:信息|資訊|内容|答案)?|不详|不詳"
        r"|不明|不知道|不清楚|暂无|[无無](?:相关)?(?:信息|答案|内容|资料|提及|记录)"
        r"|(?:没有|沒有)(?:相关|相關)?(?:信息|資訊|答案|内容|提及|提到)|[无無]法(?:回答|确定|確定|得知|判断)|不适用"
        r"|不適用",
        r"文中|文本|段落|[一本该此]段|笔记|摘要|文章|文档|文檔|文件|原文|本文|上文|材料|部分|片段|资料|資料|内容|章节|文字",
        r"没有|沒有|没|未|[无無]|并未|不包含|不含",
        r"提到|提及|说明|說明|提供|包含|指出|给出|写|记载|記載|涉及|信息|資訊|答案|说|說",
    ),
    _language(  # Japanese
        r"な[しい]|無し|ありません|不明|不詳|未記載|特になし"
        r"|(?:記載|言及|該当|情報|回答|答え|記述|記録)(?:は|が)?(?:なし|無し|ない|ありません)"
        r"|(?:記載|言及|記述|明記)され(?:ていない|ていません|ておりません)|(?:分|わ)かりません|分からない|わからない"
        r"|回答不能|回答できません|該当せず",
        r"文中|本文|文章|テキスト|文書|部分|段落|資料|箇所|パート|抜粋|原文|記事|文脈",
        r"ません|ない|なし|無い|無し|おらず|ず",
        r"記載|言及|記述|書かれ|述べ|触れ|示され|含まれ|情報|見つか|答え|載って|明記",
    ),
    _language(  # Korean
        r"없음|없습니다|(?:언급|정보|해당|답|답변|기록|내용)(?:이|은|는|가)? ?없(?:음|습니다|다)"
        r"|알 수 없(?:음|습니다|다)|모름|모르겠습니다"
        r"|(?:언급|명시|기재)되(?:지 않|어 있지 않)(?:음|습니다|았음|았습니다|다)|미상|불명|미기재"
        r"|찾을 수 없(?:음|습니다)",
        r"본문|문서|글|텍스트|지문|구절|부분|문단|자료|기사|문맥",
        r"없|않|못",
        r"언급|나와|나오|명시|기재|정보|설명|포함|말하|답|제시|찾",
    ),
    _language(  # Arabic
        r"لا يوجد(?: .*)?|لا توجد (?:معلومات|إجابة|بيانات|إشارة)(?: .*)?|غير (?:مذكور|معروف|محدد|متوفر|متاح|موجود)ة?"
        r"|لم (?:يذكر|تذكر|يرد)(?: ذلك)?|مجهول|لا (?:أعرف|أعلم|شيء|إجابة|ذكر|معلومات)|بدون إجابة|لا ينطبق",
        r"النص|المقطع|الوثيقة|المستند|الفقرة|الجزء|المقال|السياق",
        r"\b(?:لا|لم|ليس|ليست|غير|دون)\b",
        r"ذكر|مذكور|يحتوي|معلومات|يحدد|يقول|يشير|إجابة|يوضح|ورد|يرد|تتضمن",
    ),
)

# ---------------------------------------------------------------------------------------------------- what is judged

_CLAUSE_END = re.compile(r"[.;:!?\n—–](?:\s|$)|,\s|[。！？；，、،؛؟]")
_SEGMENT_END = re.compile(r"[.;:!?\n](?:\s|$)|,\s|[。！？；，،؛؟]")
_BUT = re.compile(
    r"\b(?:but|however|although|though|except|aber|jedoch|mais|cependant|pero|sin embargo|tuttavia|però|mas|porém"
    r"|maar|но|однако|ولكن)\b|但|しかし|ただし|하지만|그러나",
    re.IGNORECASE,
)
_APOLOGY = re.compile(
    r"^\W*(?:(?:i['’]m|i am|je suis|i) )?(?:sorry|apologi[sz]e|unfortunately|leider|es tut mir leid|désolée?"
    r"|lo siento|malheureusement|抱歉)\W+(?:but |aber |mais |pero |但)?(?:i['’]m afraid )?(?:that )?",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^(?:the |final )*(?:answer|antwort|réponse|respuesta|risposta|resposta|antwoord|ответ|答案|回答|答え|답|답변"
    r"|الإجابة)(?: (?:is|ist|est|es|è|é))?\s*[:：=]?\s*(?:是|は)?",
)
_EDGE = " \t.,;:!?*_`'\"“”‘’«»()[]{}<>#|~…。！？、，-–—"
_EVIDENCE = re.compile(r"\b(?:evidence|facts?)\b", re.IGNORECASE)
_NONE = (
    "none, null, nil, nan, n/a, na, unknown, unclear, empty, nothing, no answer, no new query, not stated, not found, "
    "not mentioned, not given, not specified, not available, not known, not in the evidence, not enough evidence, "
    "nothing is missing, nothing missing, the documents do not say, "
    "keine, keine angabe, keine angaben, keine antwort, unbekannt, nicht angegeben, nicht bekannt, "
    "nicht erwähnt, nichts, aucun, aucune, aucune réponse, inconnu, non précisé, non mentionné, pas mentionné, rien, "
    "ninguno, ninguna, ninguna respuesta, desconocido, no se menciona, no se indica, no consta, nada, "
    "sconosciuto, non indicato, nessuno, nessuna, desconhecido, não mencionado, onbekend, niet vermeld, "
    "无, 没有, 未知, 未提及, 未说明, 不知道, なし, 不明, 記載なし, 없음, 알 수 없음, неизвестно, не указано"
)
_NOTHING = frozenset(_NONE.split(", "))
_VOWEL_MARKS = re.compile("[\u064b-\u0652]")


def is_members_refusal(content: str) -> bool:
    """Whether an answer says that there is none, in whatever words; empty says so too.

    In a longer answer the refusal must be its first clause, and what follows must not take it back.
    """
    content = _APOLOGY.sub("", " ".join(content.split()))
    if not re.search(r"\w", content):
        return True
    end = _CLAUSE_END.search(content)
    first = content[: end.start()] if end and not _is_short(content) else content
    found = _REFUSALS.search(first)
    return (found is not None and not _BUT.search(content, found.end())) or _in_another_language(content, first)


def without_refusal(text: str) -> str:
    """``text`` less a first clause that says what is not known, where another takes it back: "…, but it is Leeds"."""
    found = _BUT.search(text)
    return text[found.end() :].strip() if found and is_members_refusal(text[: found.start()].strip(" ,;")) else text


def says_nothing(text: str) -> bool:
    """Whether ``text`` is one of the many forms of "none", or a refusal."""
    bare = normalise_name(text.strip(_EDGE)).strip(_EDGE)
    return not bare or bare in _NOTHING or is_members_refusal(_EVIDENCE.sub("text", text))


def _in_another_language(content: str, first: str) -> bool:
    bare = _bare(content)
    if any(language.none.fullmatch(each) for language in _LANGUAGES for each in {bare, _unannounced(bare)}):
        return True
    if _BUT.search(content):
        return False
    segments = [_bare(each) for each in _SEGMENT_END.split(first) if each]
    return any(_says_nothing(segment, language) for segment in segments[:2] for language in _LANGUAGES)


def _says_nothing(segment: str, language: _Language) -> bool:
    return all(pattern.search(segment) for pattern in (language.text, language.no, language.says))


def _bare(text: str) -> str:
    """Folded, less the signs round it and Arabic's vowel marks."""
    return _VOWEL_MARKS.sub("", normalise_name(text)).strip(_EDGE)


def _unannounced(bare: str) -> str:
    return _ANNOUNCED.sub("", bare).strip(_EDGE)


def _is_short(content: str) -> bool:
    return len(content) <= _SHORT_UNSPACED if is_unspaced(content) else len(content.split()) <= _SHORT
