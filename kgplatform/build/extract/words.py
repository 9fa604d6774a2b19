"""Closed lists of English words that the rules for names, terms and relations lean on."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    ["a", "about", "above", "across", "after", "afterwards", "again", "against", "all", "almost", "alone", "along", "already", "also", "although", "always", "am", "among", "amongst", "an", "and", "another", "any", "anyone", "anything", "are", "around", "as", "at", "away", "be", "became", "because", "become", "been", "before", "behind", "being", "below", "beneath", "beside", "besides", "between", "beyond", "both", "but", "by", "can", "cannot", "could", "despite", "did", "do", "does", "doing", "done", "down", "during", "each", "earlier", "either", "else", "elsewhere", "enough", "especially", "etc", "even", "eventually", "ever", "every", "everyone", "everything", "except", "few", "finally", "first", "following", "for", "former", "formerly", "from", "further", "furthermore", "given", "had", "half", "has", "have", "having", "he", "hence", "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "if", "in", "indeed", "initially", "inside", "instead", "into", "is", "it", "its", "itself", "just", "last", "later", "latter", "least", "less", "like", "likewise", "many", "may", "me", "meanwhile", "might", "mine", "more", "moreover", "most", "mostly", "much", "must", "my", "myself", "near", "nearly", "neither", "never", "nevertheless", "next", "no", "nobody", "none", "nonetheless", "nor", "not", "nothing", "now", "of", "off", "often", "on", "once", "one", "only", "onto", "or", "originally", "other", "others", "otherwise", "our", "ours", "ourselves", "out", "outside", "over", "own", "per", "perhaps", "please", "previously", "prior", "rather", "recently", "same", "second", "several", "shall", "she", "should", "similarly", "since", "so", "some", "someone", "something", "sometimes", "soon", "still", "subsequently", "such", "than", "that", "the", "their", "theirs", "them", "themselves", "then", "thence", "there", "thereafter", "therefore", "these", "they", "third", "this", "those", "though", "through", "throughout", "thus", "to", "today", "together", "too", "toward", "towards", "two", "under", "unlike", "until", "up", "upon", "us", "usually", "various", "very", "via", "was", "we", "well", "were", "what", "whatever", "when", "whenever", "where", "whereas", "whether", "which", "while", "who", "whoever", "whom", "whose", "why", "will", "with", "within", "without", "would", "yes", "yet", "you", "your", "yours", "yourself", "yourselves"]
)
"""Words that are never a name alone and never begin one, whatever their case."""

OPENERS = frozenset(
    ["according", "adapted", "added", "aged", "appointed", "approximately", "based", "beginning", "best", "born", "built", "called", "click", "composed", "considered", "constructed", "currently", "depending", "described", "designed", "directed", "due", "educated", "elected", "established", "figure", "filmed", "formed", "founded", "generally", "having", "historically", "including", "inspired", "introduced", "known", "led", "let", "lists", "located", "made", "main", "makes", "many", "married", "most", "named", "new", "notable", "note", "officially", "old", "opened", "overall", "part", "people", "performed", "played", "popular", "produced", "published", "raised", "recorded", "regarded", "related", "released", "returning", "see", "seen", "set", "shot", "situated", "source", "starring", "starting", "table", "taken", "text", "though", "topics", "trained", "typically", "unknown", "used", "using", "whereas", "working", "written"]
)
"""Words that often open a sentence and, there, do not belong to the name after them."""

MONTHS = frozenset(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"]
)
DAYS = frozenset(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])

HONORIFICS = frozenset(
    ["mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "dame", "lord", "lady", "president", "senator", "governor", "mayor", "king", "queen", "prince", "princess", "emperor", "empress", "pope", "saint", "bishop", "archbishop", "cardinal", "rabbi", "imam", "sultan", "captain", "capt", "colonel", "col", "general", "gen", "major", "lieutenant", "lt", "sergeant", "sgt", "admiral", "judge", "justice", "chancellor", "congressman", "congresswoman", "representative", "rep", "sen", "gov", "rev", "reverend", "sheikh", "duke", "duchess", "count", "countess", "baron", "baroness"]
)
"""Words before a name that make it a person's."""

FORMAL_HONORIFICS = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "professor", "capt", "col", "gen", "lt", "sgt", "sen", "rep", "gov", "rev"])
"""Honorifics that are not kept as a part of the name."""

INNER_PARTICLES = frozenset(
    ["of", "the", "de", "del", "della", "der", "den", "des", "du", "da", "das", "do", "dos", "di", "la", "las", "le", "les", "los", "el", "al", "van", "von", "zu", "zur", "bin", "ibn", "ben", "y", "e", "et", "und", "für", "for", "af", "av", "ter", "ten", "on", "upon", "sur"]
)
"""Lower-case words that may stand inside a name, between two capitalised words."""
