"""Closed lists of English words that the rules for names, terms and relations lean on, and what they tell.

The kind of a named thing, where rules can tell: from the form of its name, or from what a sentence says it is.

Kinds are the words of ``_LAST_WORDS`` and ``NOUN_KINDS``; a schema that has no type of that name or alias leaves the
entity without a type. The form of a name gives the same kind in every text, so that equal names stay one entity.
"""

from __future__ import annotations

import re

from kgplatform.ingest.schema import Schema


def words(text: str) -> frozenset[str]:
    """The words of ``text``, which are separated by white space."""
    return frozenset(text.split())


FUNCTION_WORDS = words(
    """
    a about above across after afterwards again against all almost alone along already also although always am
    among amongst an and another any anyone anything are around as at away be became because become been before
    behind being below beneath beside besides between beyond both but by can cannot could despite did do does
    doing done down during each earlier either else elsewhere enough especially etc even eventually ever every
    everyone everything except few finally first following for former formerly from further furthermore given
    had half has have having he hence her here hers herself him himself his how however i if in indeed initially
    inside instead into is it its itself just last later latter least less like likewise many may me meanwhile
    might mine more moreover most mostly much must my myself near nearly neither never nevertheless next no
    nobody none nonetheless nor not nothing now of off often on once one only onto or originally other others
    otherwise our ours ourselves out outside over own per perhaps please previously prior rather recently same
    second several shall she should similarly since so some someone something sometimes soon still subsequently
    such than that the their theirs them themselves then thence there thereafter therefore these they third this
    those though through throughout thus to today together too toward towards two under unlike until up upon us
    usually various very via was we well were what whatever when whenever where whereas whether which while who
    whoever whom whose why will with within without would yes yet you your yours yourself yourselves
    """
)
"""Words that are never a name alone and never begin one, whatever their case."""

OPENERS = words(
    """
    according adapted added aged appointed approximately based beginning best born built called click composed
    considered constructed currently depending described designed directed due educated elected established
    figure filmed formed founded generally having historically including inspired introduced known led let lists
    located made main makes many married most named new notable note officially old opened overall part people
    performed played popular produced published raised recorded regarded related released returning see seen set
    shot situated source starring starting table taken text though topics trained typically unknown used using
    whereas working written
    """
)
"""Words that often open a sentence and, there, do not belong to the name after them."""

MONTHS = words(
    """
    apr april aug august dec december feb february jan january jul july jun june mar march may nov november oct
    october sep sept september
    """
)

DAYS = words(
    """
    friday monday saturday sunday thursday tuesday wednesday
    """
)

FORMAL_HONORIFICS = words(
    """
    capt col dr gen gov lt miss mr mrs ms prof professor rep rev sen sgt
    """
)
"""Honorifics that are not kept as a part of the name."""

INNER_PARTICLES = words(
    """
    af al av ben bin da das de del della den der des di do dos du e el et for für ibn la las le les los of on
    sur ten ter the und upon van von y zu zur
    """
)
"""Lower-case words that may stand inside a name, between two capitalised words."""


# ------------------------------------------------------------------------------------------------------ kinds of things


_LAST_WORDS = {
    "Organization": words(
        """
        university college school institute academy inc ltd llc plc gmbh company corporation corp co party association
        society foundation committee council ministry department agency bureau commission union league club orchestra
        symphony philharmonic records studios pictures entertainment press publishing airlines airways bank group
        holdings industries motors laboratory laboratories hospital church diocese army navy regiment battalion
        brigade squadron parliament senate assembly museum library theatre theater f.c fc band
        """
    ),
    "Place": words(
        """
        river lake county island islands mountain mountains street avenue road airport park bay valley province
        district bridge peninsula ocean sea desert canyon castle cathedral stadium arena township parish municipality
        region kingdom republic territory strait gulf creek forest falls square station building tower beach
        """
    ),
    "Event": words(
        """
        war battle olympics championship championships cup festival revolution uprising rebellion massacre earthquake
        hurricane siege referendum election tournament expedition crisis summit
        """
    ),
    "Award": words("award awards prize medal trophy"),
}
_FIRST_WORDS = {
    "university": "Organization",
    "ministry": "Organization",
    "department": "Organization",
    "bank": "Organization",
    "institute": "Organization",
    "lake": "Place",
    "mount": "Place",
    "mt": "Place",
    "battle": "Event",
    "siege": "Event",
    "treaty": "Event",
}
_GIVEN_NAMES = words(
    """
    aaron adam adrian agnes alan albert alexander alexandra alfred alice allen amanda amy andré andrea andrew andy
    angela ann anna anne annie anthony antonio arnold arthur barbara ben benjamin bernard betty bill billy bob bobby
    brandon brenda brian bruce bryan carl carlos carol caroline catherine charles charlie charlotte chris christian
    christina christine christopher claire clara claude colin craig cynthia daniel danny dave david deborah dennis
    diana diane dominic don donald donna dorothy douglas duncan earl ed eddie edgar edith edward edwin eleanor
    elizabeth ellen emily emma eric erik ernest ethan eugene eva evelyn fernando florence frances francis francisco
    frank franklin franz fred frederick friedrich gary gene geoffrey george gerald gerard gilbert giovanni glenn
    gordon grace graham greg gregory guy gustav hans harold harriet harry heather heinrich helen henri henry herbert
    herman howard hugh hugo ian ida irene isaac isabel ivan jack jackie jacob jacques jake james jamie jane janet
    jason jay jean jeff jeffrey jennifer jeremy jerry jesse jessica jim jimmy joan joanna joe joel johann johannes
    john johnny jon jonathan jorge jose josé joseph joshua juan judith judy julia julian julie karen karl kate
    katherine kathleen keith kelly ken kenneth kevin kim larry laura lawrence lee leo leon leonard leonardo leslie
    lewis linda lisa lloyd louis louise lucas lucy luis luke lynn marcus margaret maria marie mario mark martha martin
    mary matt matthew maurice max megan michael michel michelle miguel mike milton mohamed mohammed morgan muhammad
    nancy natalie nathan neil nicholas nick nicole nigel norman oliver olivia oscar otto owen pablo pamela patricia
    patrick paul paula pedro peter phil philip philippe phillip pierre rachel ralph randy ray raymond rebecca rené
    ricardo richard rick robert roberto robin rodney roger roland ron ronald rosa rose roy russell ruth ryan sally sam
    samantha samuel sandra sara sarah scott sean sebastian sharon sheila shirley simon sophia stanley stephanie
    stephen steve steven stuart susan suzanne sylvia ted teresa terry theodore thomas tim timothy tina todd tom tommy
    tony tracy ursula vera vernon victor victoria vincent virginia vladimir walter warren wayne wendy wilhelm william
    winston wolfgang yvonne
    """
)
_NOT_AFTER_GIVEN_NAME = words("city beach street and & of the for")

NOUN_KINDS = {
    **dict.fromkeys(
        words(
            """
            actor actress singer songwriter musician composer writer author novelist poet playwright journalist
            politician lawyer physicist chemist biologist mathematician scientist engineer inventor painter artist
            sculptor architect philosopher historian footballer player coach manager cricketer golfer boxer wrestler
            swimmer athlete driver drummer guitarist bassist pianist violinist rapper dancer comedian director
            producer screenwriter filmmaker photographer businessman businesswoman entrepreneur economist psychologist
            physician surgeon nurse soldier officer admiral king queen prince princess emperor duke bishop priest
            saint theologian judge activist explorer astronaut pilot professor teacher president senator governor
            goalkeeper midfielder defender striker quarterback pitcher conductor critic editor publisher designer
            missionary nobleman statesman diplomat clarinetist saxophonist trumpeter vocalist presenter broadcaster
            man woman
            """
        ),
        "Person",
    ),
    **dict.fromkeys(
        words(
            """
            city town village municipality county province state country region district river lake island mountain
            suburb neighborhood neighbourhood commune borough township settlement peninsula park airport bridge castle
            stadium building hamlet parish canton community valley street road
            """
        ),
        "Place",
    ),
    **dict.fromkeys(
        words(
            """
            film movie novel album song book sitcom opera musical play painting poem magazine newspaper journal
            episode documentary ballet symphony soundtrack ep sculpture essay memoir anthology
            """
        ),
        "Work",
    ),
    **dict.fromkeys(
        words(
            """
            company corporation organization organisation university college school institute party band orchestra
            club team agency bank airline association foundation label publisher museum charity union brewery
            manufacturer retailer firm group duo trio
            """
        ),
        "Organization",
    ),
    **dict.fromkeys(
        words("war battle tournament championship festival election conference massacre revolution"), "Event"
    ),
    **dict.fromkeys(words("award prize medal"), "Award"),
    **dict.fromkeys(words("language dialect"), "Language"),
}
"""What a sentence says a thing is, and the kind of thing that this is."""

_SYNONYMS = {
    "Organization": ("Organization", "Organisation", "Company", "Institution"),
    "Place": ("Place", "Location", "GPE"),
    "Work": ("Work", "Creative Work", "Publication"),
}
_WORD = re.compile(r"[^\s,]+")


def kind_of_name(name: str) -> str | None:
    """The kind that the form of ``name`` shows, in any text.

    >>> kind_of_name("University of Copenhagen"), kind_of_name("Jane Goodall"), kind_of_name("Sputnik")
    ('Organization', 'Person', None)
    """
    parts = [part.strip(".").lower() for part in _WORD.findall(name)]
    if len(parts) < 2:
        return None
    head = parts[parts.index("of") - 1] if "of" in parts[1:] else parts[-1]
    for kind, endings in _LAST_WORDS.items():
        if head in endings:
            return kind
    if parts[0] in _FIRST_WORDS:
        return _FIRST_WORDS[parts[0]]
    if parts[:2] == ["world", "war"]:
        return "Event"
    is_person = parts[0] in _GIVEN_NAMES and len(parts) <= 4 and not set(parts[1:]) & _NOT_AFTER_GIVEN_NAME
    return "Person" if is_person and not any(letter.isdigit() for letter in name) else None


def kind_of_noun_phrase(phrase: str) -> str | None:
    """The kind that "an American film actor" is: that of its last noun that has one."""
    for word in reversed([word.lower() for word in re.findall(r"[^\W\d_]+", phrase)]):
        if word in NOUN_KINDS:
            return NOUN_KINDS[word]
    return None


def type_in(schema: Schema, kind: str | None) -> str | None:
    """The schema's own name for ``kind``, by name or alias, whatever its case; None if it has no such type."""
    for name in _SYNONYMS.get(kind or "", (kind,) if kind else ()):
        if (found := schema.entity(name)) is not None:
            return found.name
    return None
